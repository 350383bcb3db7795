"""The local engine: campaigns of this machine, a worker process for each claim that fits.

It decides nothing itself (`allotment.scheduling.local` does) and does no page itself (`allotment.running`
in the worker does): it starts workers on devices that the machine-wide ledger gives it, listens to them,
and ends.
"""
