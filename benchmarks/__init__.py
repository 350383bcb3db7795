"""Budgets of speed, each compared with its rival in the same run."""
