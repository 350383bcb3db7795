"""What will happen, as a value: what changes, which cards fit, when it ends, what it costs, who pays.

``plan_for`` makes a ``Plan`` of a scene; the command line shows it, and ``apply --plan`` holds a saved one
against the world that it meets.
"""
