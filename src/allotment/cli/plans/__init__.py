"""What `allot plan`, `compare`, `simulate` and `apply --plan` are asked, as values for `planning`."""
