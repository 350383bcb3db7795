"""What `allot plan`, `compare`, `simulate` and `apply --plan` are asked, as values that `planning` answers."""
