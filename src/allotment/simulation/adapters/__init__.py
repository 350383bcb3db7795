"""One adapter for each scheduler: work into what its model decides on, and decisions back into orders."""
