"""What a worker may ask of the web and of buckets for its pages, as the platform says."""

from __future__ import annotations

from allotment.platform.model import Platform
from allotment.running.assignment import Network


def network_of(platform: Platform) -> Network:
    """What a worker may fetch from where: what the platform's file says under ``sources``."""
    sources = platform.sources
    return Network(hosts=sources.hosts, private=sources.private, buckets=sources.buckets)
