"""Campaigns on a cluster: what is rendered for it, converted to it, and asked of it."""
