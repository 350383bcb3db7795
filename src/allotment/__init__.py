"""Allotment: a GPU campaign platform in which GPUs are described, not counted."""

__version__ = "0.1.0"
