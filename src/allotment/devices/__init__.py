"""The world of devices as Kubernetes' Dynamic Resource Allocation has it, and what this machine has of it.

Cards are described, not counted: slices publish devices, classes sort them, claims ask for them, an allocator
brings both together, a ledger keeps one device from being used twice. Nothing here knows a campaign or a file
of ours. The shapes are those of ``resource.k8s.io/v1``.
"""
