"""What a run shows while it works: lines, a picture, or JSON, and who hands them what."""
