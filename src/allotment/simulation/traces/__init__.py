"""Traces of real clusters, one module a format: files into jobs, and jobs into what a simulation works on.

The data is nobody's but its publishers': it is read from a folder that is given, and never comes with us.
"""
