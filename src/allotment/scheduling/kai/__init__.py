"""NVIDIA KAI Scheduler's cycle as a pure function of the state and of what is remembered.

The model is of the snapshot of August 2026, shortly after 0.17.0.
"""
