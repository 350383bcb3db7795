"""Placement by topology: in which racks, blocks and nodes the pods of a workload stand.

Quota says whether a workload may run, a topology where. First it is counted how many pods every domain could
take, from the nodes up (``counting``); then the level and the domains are chosen (``choosing``); then the
pods are spread downwards (``spreading``). The rules are those of ``tas_flavor_snapshot.go`` in
``pkg/cache/scheduler``.
"""
