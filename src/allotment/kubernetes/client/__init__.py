"""A cluster's API as plain values: the one way by which anything of ours reads or writes a cluster."""

from allotment.kubernetes.client.client import Client
from allotment.kubernetes.client.errors import ApiError, ExpiredError
from allotment.kubernetes.client.logs import Wanted
from allotment.kubernetes.client.transport import Reply, Transport
from allotment.kubernetes.client.watching import Watch

__all__ = ["ApiError", "Client", "ExpiredError", "Reply", "Transport", "Wanted", "Watch"]
