"""A device waits less than 5 % of its time for pages that take 200 ms to fetch and 50 ms to work: 200 pages.

The pages are on a web server of another process, which answers each request after 200 ms; the worker is as it
is for a campaign: a IIIF manifest, the default look-ahead, lease, steps, outputs and records in a bucket.
The wait is what the runner itself measures, held against the time of the whole run; beside it stands what it
is when only one page is fetched ahead.
"""

from __future__ import annotations

import json
import multiprocessing
import time
from collections.abc import Mapping
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from pathlib import Path

from allotment.buckets.memory import MemoryBucket
from allotment.events.sinks import ListSink
from allotment.running.assignment import Assignment, Limits, Network, StepSpec, VolumeSpec
from allotment.running.holder import this_process
from allotment.running.page import Page
from allotment.running.sources.source import open_source
from allotment.running.steps.loading import LabelledStep
from allotment.running.steps_once import StepsOnce
from allotment.running.surroundings import Surroundings
from allotment.running.worker import run_pack
from benchmarks.ratio import Ratio

PAGES = 200
FETCH_SECONDS = 0.200
WORK_SECONDS = 0.050
BUDGET = 0.05
RIVAL_PAGES = 10
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108000000003a7e9b55"
    "0000000a49444154789c636000000002000148afa4710000000049454e44ae426082"
)


def run(*, pages: int = PAGES) -> list[Ratio]:
    """The part of its time that the device waits."""
    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=_serve, args=(theirs,), daemon=True)
    server.start()
    try:
        host = f"http://127.0.0.1:{ours.recv()}"
        one_by_one = _part_waited(host, RIVAL_PAGES, look_ahead=1)
        part = _part_waited(host, pages, look_ahead=Limits().look_ahead)
    finally:
        server.terminate()
        server.join()
    explanation = (
        f"{pages} pages of {FETCH_SECONDS * 1000:g} ms to fetch and {WORK_SECONDS * 1000:g} ms to work, "
        f"look-ahead {Limits().look_ahead}; with a look-ahead of one {one_by_one:.2f}"
    )
    return [Ratio("the device's wait for pages, in parts of its time", part, BUDGET, explanation)]


def _part_waited(host: str, pages: int, *, look_ahead: int) -> float:
    """What the runner says that its device waited, in parts of the whole time of a volume."""
    assignment = Assignment(
        team="team",
        campaign="campaign",
        pipeline="pipeline",
        recipe="0123456789ab",
        steps=(StepSpec("work"),),
        indexes=((VolumeSpec("volume", {"manifest": f"{host}/{pages}/manifest"}),),),
        root="/",
        bucket="memory",
        limits=Limits(look_ahead=look_ahead),
        network=Network(hosts=(host,), private=("127.0.0.0/8",)),
    )
    bucket = MemoryBucket()
    opened = partial(
        open_source, root=Path("/"), max_pixels=assignment.limits.max_pixels, network=assignment.network
    )
    around = Surroundings(
        assignment=assignment,
        bucket=bucket,
        steps=StepsOnce(lambda: (LabelledStep("work", _work),), time.monotonic),
        open_source=opened,
        holder=this_process("benchmark"),
        sink=ListSink(),
        clock=time.time,
        monotonic=time.monotonic,
    )
    began = time.perf_counter()
    code = run_pack(around, assignment.pack(0))
    seconds = time.perf_counter() - began
    if code != 0:
        raise RuntimeError(f"the runner ended with {code}")
    manifest = next(data for key, data in bucket.objects.items() if key.endswith("/manifest.json"))
    measured = json.loads(manifest)["measured"]
    if measured["pages_done"] != pages:
        raise RuntimeError(f"{measured['pages_done']} of {pages} pages were done")
    return float(measured["wait_seconds"]) / seconds


def _work(page: Page, _earlier: Mapping[str, bytes]) -> Mapping[str, bytes]:
    """A device's work: this process waits for it."""
    time.sleep(WORK_SECONDS)
    return {"txt": page.data}


class _Archive(BaseHTTPRequestHandler):
    """Answers at once with a manifest, and after a while with a page."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        _, first, rest = self.path.split("/", 2)
        data = PNG
        if rest == "manifest":
            data = _manifest(f"http://{self.headers['host']}", int(first))
        else:
            time.sleep(FETCH_SECONDS)
        self.send_response(200)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the name of what it overrides
        """Nothing is logged."""


def _manifest(host: str, pages: int) -> bytes:
    def canvas(number: int) -> object:
        body = {"id": f"{host}/page/{number}.png", "type": "Image"}
        annotation = {"type": "Annotation", "motivation": "painting", "body": body}
        return {"type": "Canvas", "items": [{"type": "AnnotationPage", "items": [annotation]}]}

    return json.dumps({"type": "Manifest", "items": [canvas(number) for number in range(pages)]}).encode()


def _serve(told: Connection) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Archive)
    told.send(server.server_address[1])
    server.serve_forever()
