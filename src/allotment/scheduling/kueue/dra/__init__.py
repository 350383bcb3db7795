"""What claims are charged to quota: by device class, not by what their selectors say.

Kueue's configuration maps classes to resources of its queues. A claim counts as so many devices, or by a
counter that the devices draw on, or by a capacity that they share (``mapping``, ``charging``, ``rounding``);
``claimed`` reads workloads so.
The rules are those of ``pkg/dra``; that is all done before a workload stands in line, so nothing that the
scheduler decides changes a charge.
"""
