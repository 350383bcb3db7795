"""A fake API server for tests and demonstrations: see `server.FakeApiServer`."""

from allotment.kubernetes.testing.server import FakeApiServer

__all__ = ["FakeApiServer"]
