"""Cutting cards: what fits on one, what a scheduler cuts for a load, and which layout serves it best."""
