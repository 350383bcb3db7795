"""One state for all models of schedulers: queues, quotas, flavors, nodes and workloads, as frozen values.

A state never changes. ``State.with_workloads`` makes another one that shares all the rest, at the cost of
what differs, so a model may fork it for every "what if" that it asks.
"""
