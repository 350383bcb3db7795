"""The forms in which findings are written: for people, for programs, for pull requests."""
