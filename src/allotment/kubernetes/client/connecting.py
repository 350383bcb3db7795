"""The way to the cluster that a kubeconfig names, by lightkube, which is loaded here and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from allotment.errors import WorldError
from allotment.kubernetes.client.http import AGENT, CONNECT_SECONDS, READ_SECONDS, HttpTransport
from allotment.kubernetes.client.kubeconfig import Access, access


def connect(context: str | None, environ: Mapping[str, str], home: Path) -> HttpTransport:
    """A transport to the context, or to the current one; nothing is asked of the cluster yet."""
    return over_http(access(context, environ, home))


def over_http(found: Access) -> HttpTransport:
    """A transport by what a kubeconfig says."""
    try:
        import httpx2
        from lightkube import SingleConfig
        from lightkube.config.client_adapter import Client, ConnectionParams
        from lightkube.config.models import Cluster, Context, User
        from msgspec import convert
    except ImportError as error:
        raise WorldError(
            f"a cluster cannot be asked, as {error.name} is not installed",
            remedy='install it: pip install "allotment[kubernetes]"',
        ) from None
    config = SingleConfig(
        context_name=found.name,
        context=Context(cluster=found.name),
        cluster=convert(found.cluster, Cluster),
        user=convert(found.user, User),
    )
    timeout = httpx2.Timeout(READ_SECONDS, connect=CONNECT_SECONDS)
    client = Client(config, ConnectionParams(timeout=timeout, proxy=found.cluster.get("proxy-url")))
    client.headers["user-agent"] = AGENT
    return HttpTransport(client, found.name)
