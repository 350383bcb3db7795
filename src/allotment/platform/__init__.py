"""The platform's file: teams, lanes, sizes, defaults and the engine, as one frozen value.

It belongs to the platform and not to a team: a team's files name lanes and sizes, and never a queue.
"""
