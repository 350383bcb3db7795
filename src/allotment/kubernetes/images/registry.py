"""The facts of an image from the registry that has it, by three short questions at most.

Facts: the OCI Distribution Specification 1.1 (manifests and blobs by digest, the codes of errors) and the OCI
Image Specification 1.1 (an index names manifests by platform, a manifest its configuration); Docker's media
types mean the same. Everything is asked for by digest, so it is looked at whether that is what came.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from allotment.kubernetes.images.asking import Answer, Asking, Question, Resolve, UnaskedError, resolved
from allotment.kubernetes.images.authorizing import authorization
from allotment.kubernetes.images.credentials import Run, credential_for, run_helper
from allotment.kubernetes.images.facts import Absent, ImageFacts, Looked, Untold
from allotment.kubernetes.images.reference import Reference

ACCEPT: Final = ", ".join(
    (
        "application/vnd.oci.image.index.v1+json",
        "application/vnd.oci.image.manifest.v1+json",
        "application/vnd.docker.distribution.manifest.list.v2+json",
        "application/vnd.docker.distribution.manifest.v2+json",
    )
)
MOST: Final = 4 << 20
_WORD: Final = re.compile(r"[a-z0-9._-]{1,32}")
_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_ABSENT: Final = frozenset({"MANIFEST_UNKNOWN", "MANIFEST_BLOB_UNKNOWN"})


@dataclass(eq=False)
class _NoFactsError(Exception):
    """The conversation is over."""

    looked: Untold | Absent


class Registries:
    """Every registry that images name, by what this user has for them; each image is asked for once.

    A registry that does not answer is not asked again.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        *,
        run: Run = run_helper,
        resolve: Resolve = resolved,
        seconds: float = 10,
    ) -> None:
        self._environ = environ
        self._run = run
        self._resolve = resolve
        self._seconds = seconds
        self._silent: dict[str, Untold] = {}
        self._known: dict[tuple[Reference, tuple[str, ...]], Looked] = {}

    def __call__(self, reference: Reference, platforms: tuple[str, ...]) -> Looked:
        """The facts of an image, or why there are none."""
        key = reference, platforms
        if key not in self._known:
            self._known[key] = self._silent.get(reference.api) or self._looked(reference, platforms)
        return self._known[key]

    def _looked(self, reference: Reference, platforms: tuple[str, ...]) -> Looked:
        asking = Asking(reference, self._resolve, self._seconds)
        try:
            return _Conversation(reference, asking, self._environ, self._run).facts(platforms)
        except _NoFactsError as end:
            return end.looked
        except UnaskedError as error:
            untold = Untold(error.why, error.remedy)
            self._silent[reference.api] = untold
            return untold


class _Conversation:
    """What is asked about one image."""

    def __init__(self, reference: Reference, asking: Asking, environ: Mapping[str, str], run: Run) -> None:
        self._reference = reference
        self._asking = asking
        self._environ = environ
        self._run = run
        self._authorization: str | None = None
        self._has_credential = False

    def facts(self, platforms: Sequence[str]) -> ImageFacts:
        """The facts; raises `_NoFactsError`, or `UnaskedError` where nobody answers as a registry does."""
        manifest = self._fetched("manifests", self._reference.digest)
        if "manifests" in manifest:
            there = dict(_entries(manifest))
            chosen = next((there[each] for each in platforms if each in there), None)
            if chosen is None:
                return ImageFacts(tuple(sorted(there)))
            found = self._of_manifest(self._fetched("manifests", chosen))
            return ImageFacts(tuple(sorted(there)), found.labels, found.env)
        return self._of_manifest(manifest)

    def _of_manifest(self, manifest: Mapping[str, Any]) -> ImageFacts:
        config = self._fetched("blobs", str(_mapping(manifest.get("config")).get("digest")))
        platform = _platform(config)
        said = _mapping(config.get("config"))
        labels = {str(name): str(value) for name, value in _mapping(said.get("Labels")).items()}
        variables = said.get("Env")
        pairs = [str(each).partition("=") for each in variables] if isinstance(variables, list) else []
        env = {name: value for name, _, value in pairs}
        return ImageFacts((platform,) if platform else (), labels, env)

    def _fetched(self, kind: str, digest: str) -> Mapping[str, Any]:
        """A manifest or a blob that is JSON, and is what its digest says."""
        if not _DIGEST.fullmatch(digest):
            raise self._strange("it names a part of the image by no digest that is known here")
        address = f"{self._reference.address}/{kind}/{digest}"
        answer = self._answer(Question(address, {"Accept": ACCEPT} if kind == "manifests" else {}, MOST))
        if answer.status != 200:
            raise _NoFactsError(self._refused(answer))
        if "sha256:" + hashlib.sha256(answer.body).hexdigest() != digest:
            raise self._strange("what it answers with is not what the digest says")
        found = _json(answer.body)
        if not found:
            raise self._strange("what it answers with describes no image")
        return found

    def _answer(self, question: Question) -> Answer:
        """The answer, with whatever the registry wants to know of us."""
        headers = dict(question.headers)
        if self._authorization is not None:
            headers["Authorization"] = self._authorization
        answer = self._asking.ask(Question(question.address, headers, question.most))
        challenge = answer.headers.get("www-authenticate")
        if answer.status != 401 or challenge is None or self._authorization is not None:
            return answer
        credential = credential_for(self._reference, self._environ, self._run)
        self._has_credential = credential is not None
        self._authorization = authorization(challenge, self._reference, credential, self._asking)
        if self._authorization is None:
            return answer
        headers["Authorization"] = self._authorization
        return self._asking.ask(Question(question.address, headers, question.most))

    def _refused(self, answer: Answer) -> Untold | Absent:
        """What an answer without content means."""
        api, repository = self._reference.api, self._reference.repository
        codes = set(_codes(answer.body))
        if answer.status == 404 and codes & _ABSENT:
            return Absent(f"{api} has no such image: {repository} is there without this digest")
        if answer.status == 404 and "NAME_UNKNOWN" in codes and self._has_credential:
            return Absent(f"{api} has no such image: there is no {repository}")
        if answer.status == 404 and not codes:
            return Untold(f"what answers at {api} is no registry, or hides {repository}", self._remedy())
        if answer.status in {401, 403, 404}:
            words = f"{api} does not show {repository} to {self._whom()} ({answer.status})"
            return Untold(words, self._remedy())
        if answer.status == 429:
            words = f"{api} was asked too often (429)"
            return Untold(words, "try again later; those who log in may ask more often")
        return Untold(f"{api} answers {answer.status}", "try again later, or ask whoever runs that registry")

    def _whom(self) -> str:
        return "this user" if self._has_credential else "everybody"

    def _remedy(self) -> str:
        if self._has_credential:
            return f"look whether this user may pull from {self._reference.api}"
        return f"log in with `docker login {self._reference.host}`"

    def _strange(self, words: str) -> _NoFactsError:
        remedy = "look at what lies between, such as a proxy, and ask whoever runs that registry"
        return _NoFactsError(Untold(f"{self._reference.api} is strange: {words}", remedy))


def _entries(index: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The platforms of an index with their digests; the first of a platform counts."""
    seen = set()
    listed = index.get("manifests")
    for entry in listed if isinstance(listed, list) else []:
        platform = _platform(_mapping(_mapping(entry).get("platform")))
        if platform and platform not in seen:
            seen.add(platform)
            yield platform, str(entry.get("digest"))


def _platform(said: Mapping[str, Any]) -> str | None:
    """A platform as ``linux/amd64``; None where nothing runs on it, as for an attestation."""
    words = [str(said.get(key)) for key in ("os", "architecture") if isinstance(said.get(key), str)]
    if len(words) != 2 or "unknown" in words or not all(map(_WORD.fullmatch, words)):
        return None
    return "/".join(words)


def _codes(body: bytes) -> Iterator[str]:
    errors = _json(body).get("errors")
    for error in errors if isinstance(errors, list) else []:
        if isinstance(code := _mapping(error).get("code"), str):
            yield code


def _json(body: bytes) -> Mapping[str, Any]:
    try:
        return _mapping(json.loads(body))
    except (ValueError, RecursionError):
        return {}


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
