"""The runner, the same code in a local process and in a pod, and the local engine that starts such processes.

This module stays empty: a worker process must be able to set its limits before anything large is imported.
"""
