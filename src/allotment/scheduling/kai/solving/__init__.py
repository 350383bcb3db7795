"""Finding whom to evict so that a job gets its place: scenarios are made up, simulated, and judged.

``actions/common/solvers`` of KAI and its two makers of scenarios. Its budgets of time are not modelled: they
only cut searches short that take minutes.
"""
