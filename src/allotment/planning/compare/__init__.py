"""The same work under several schedulers, or other settings, side by side: what differs, why, and what to do.

Every column plays the same works under the same seeds, so that differences are between pairs, and what is
left to chance is told apart from what is not.
"""
