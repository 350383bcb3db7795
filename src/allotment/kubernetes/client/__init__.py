"""A cluster's API as plain values: the one way by which anything of ours reads or writes a cluster."""

from allotment.kubernetes.client.client import Client
from allotment.kubernetes.client.errors import ApiError
from allotment.kubernetes.client.transport import Reply, Transport

__all__ = ["ApiError", "Client", "Reply", "Transport"]
