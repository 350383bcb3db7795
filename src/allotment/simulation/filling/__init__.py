"""Filling a cluster until it is full: which placement policy leaves the fewest cards unusable."""
