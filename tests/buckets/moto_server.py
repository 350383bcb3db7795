"""moto as an S3 server in a process of its own: `python -m tests.buckets.moto_server` prints its port.

It ends when its standard input does, which is when whoever started it has gone.
"""

from __future__ import annotations

import http.client
import logging
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from tests.buckets.server_process import served_by

KEYS = {"AWS_ACCESS_KEY_ID": "AKIATESTING", "AWS_SECRET_ACCESS_KEY": "not-a-secret-of-anybody"}
AUTHORIZATION = "AWS4-HMAC-SHA256 Credential=AKIATESTING/20260101/us-east-1/s3/aws4_request"


@contextmanager
def moto() -> Iterator[str]:
    """A server; gives its address."""
    environment = {**os.environ, "MOTO_ACCOUNT_ID": "123456789012"}
    environment.pop("PYTHONWARNINGS", None)
    with served_by("tests.buckets.moto_server", environ=environment, quiet=True) as address:
        yield address


def make_bucket(endpoint: str, name: str) -> None:
    """Make a bucket."""
    put(endpoint, name)


def put(endpoint: str, key: str, data: bytes = b"") -> None:
    """An object, or a bucket; the key begins with the bucket's name."""
    connection = http.client.HTTPConnection(urlsplit(endpoint).netloc, timeout=30)
    try:
        connection.request("PUT", f"/{key}", body=data, headers={"Authorization": AUTHORIZATION})
        assert connection.getresponse().status == 200
    finally:
        connection.close()


def main() -> None:
    """Serve until standard input ends."""
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import WSGIRequestHandler, make_server

    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    WSGIRequestHandler.protocol_version = "HTTP/1.1"
    WSGIRequestHandler.disable_nagle_algorithm = True
    server = make_server("127.0.0.1", 0, DomainDispatcherApplication(create_backend_app), threaded=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
