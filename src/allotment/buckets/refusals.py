"""What an object store's refusal means, and what to do about it: one table, from an answer to words.

obstore tells everything in one text: the status, the XML of S3 with its code, or how the connection failed.
That text holds request ids, key ids and whole answers, so none of it is shown: it is searched for what is
known, and the words are ours. Facts: "Error responses" of the S3 API reference; the texts of obstore 0.12,
reqwest and rustls as a loopback server provokes them in the tests.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

from allotment.buckets.bucket import BucketRefused, BucketUnavailable
from allotment.errors import WorldError


class Meaning(NamedTuple):
    """What happened, what to do, and whether trying again may help."""

    what: str
    remedy: str = ""
    passes: bool = False


OPTIONS = "in the platform's `bucket_options`"
DENIED = Meaning(
    "the bucket denies access",
    "the credentials need s3:ListBucket on the bucket, and s3:GetObject and s3:PutObject below its prefix",
)
REGION = Meaning("the bucket is in another region", f"set `region` {OPTIONS}")
CREDENTIALS = "see to the credentials: AWS_ACCESS_KEY_ID and its like, or the profile's file"
EXPIRED = Meaning("the credentials have expired", "renew them; a profile's file is read again", passes=True)
SLOW_DOWN = Meaning(
    "the bucket asks us to slow down",
    "it will pass; a smaller `window` puts less load on it",
    passes=True,
)
FAILING = Meaning("the bucket's server failed", passes=True)
TIMEOUT = Meaning(
    "the bucket did not answer in time", f"`timeout` {OPTIONS} is how long we wait", passes=True
)
CLOCK = Meaning("the bucket's clock and this machine's differ too much", "set this machine's clock")
TLS = Meaning(
    "the bucket's certificate is not one that this machine trusts",
    f"name the certificate of the authority that signed it as `ca_certificate` {OPTIONS}",
)
NO_CREDENTIALS = Meaning(
    "there are no credentials for the bucket, and this machine has no role that gives some",
    "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SHARED_CREDENTIALS_FILE to a file of them, or "
    f"name a `profile` {OPTIONS}",
)
NO_BUCKET = Meaning(
    "there is no such bucket", "make it, or mend `bucket` in the platform's file; it is never made for you"
)
NO_STORE = Meaning("the endpoint is no object store", f"see to `endpoint` {OPTIONS}")

BY_CODE: Mapping[str, Meaning] = {
    "AccessDenied": DENIED,
    "AllAccessDisabled": DENIED,
    "AuthorizationHeaderMalformed": REGION,
    "EntityTooLarge": Meaning("the bucket takes no object as large as this", "make smaller outputs"),
    "ExpiredToken": EXPIRED,
    "IllegalLocationConstraintException": REGION,
    "InvalidAccessKeyId": Meaning("the bucket does not know the access key", CREDENTIALS),
    "InvalidBucketName": Meaning("the bucket's name is not one", "mend `bucket` in the platform's file"),
    "InvalidToken": Meaning("the bucket does not take the session token", CREDENTIALS),
    "NoSuchBucket": NO_BUCKET,
    "NotImplemented": Meaning(
        "the bucket's server does not know create-if-absent, on which everything here is built",
        "use one that knows `If-None-Match: *`",
    ),
    "PermanentRedirect": REGION,
    "QuotaExceeded": Meaning("the bucket is full", "make room, or ask for a larger quota"),
    "RequestExpired": CLOCK,
    "RequestTimeTooSkewed": CLOCK,
    "RequestTimeout": TIMEOUT,
    "SignatureDoesNotMatch": Meaning("the secret key does not belong to the access key", CREDENTIALS),
    "SlowDown": SLOW_DOWN,
    "TemporaryRedirect": Meaning("the bucket is being moved", passes=True),
    "Throttling": SLOW_DOWN,
    "TooManyRequests": SLOW_DOWN,
    "XAmzContentSHA256Mismatch": Meaning("what was sent did not arrive whole", passes=True),
}
BY_STATUS: Mapping[int, Meaning] = {
    301: REGION,
    307: Meaning("the bucket is being moved", passes=True),
    400: Meaning(
        "the bucket's server does not take the request",
        f"see to `region`, `endpoint` and `path_style` {OPTIONS}",
    ),
    401: Meaning("the bucket does not take the credentials", CREDENTIALS),
    403: DENIED,
    405: NO_STORE,
    408: TIMEOUT,
    413: BY_CODE["EntityTooLarge"],
    429: SLOW_DOWN,
    501: BY_CODE["NotImplemented"],
    503: SLOW_DOWN,
    504: TIMEOUT,
    507: BY_CODE["QuotaExceeded"],
}
CUT = Meaning("the connection to the bucket broke off", passes=True)
BY_SIGN: tuple[tuple[str, Meaning], ...] = (
    (
        "External AWS credential provider",
        Meaning("the credentials cannot be read any more", CREDENTIALS, passes=True),
    ),
    ("BareRedirect", REGION),
    ("Header missing from response", NO_STORE),
    ("BadScheme", Meaning("the endpoint is reached without TLS", f"write `allow_http: true` {OPTIONS}")),
    ("InvalidCertificate", TLS),
    (
        "InvalidContentType",
        Meaning(
            "the endpoint does not speak TLS", f"write its address {OPTIONS} as http://, if that is meant"
        ),
    ),
    (
        "dns error",
        Meaning(
            "the name of the bucket's server cannot be found", f"see to `endpoint` {OPTIONS}", passes=True
        ),
    ),
    (
        "ConnectionRefused",
        Meaning(
            "nobody answers at the bucket's endpoint",
            f"see to `endpoint` {OPTIONS}, and that it runs",
            passes=True,
        ),
    ),
    ("ConnectionReset", CUT),
    ("BrokenPipe", CUT),
    ("TimedOut", TIMEOUT),
    ("kind: Timeout", TIMEOUT),
    (
        "kind: Connect",
        Meaning("the bucket's endpoint cannot be reached", f"see to `endpoint` {OPTIONS}", passes=True),
    ),
)
METADATA = ("//169.254.169.254", "//[fd00:ec2::254]")

_STATUS = re.compile(r"returned (?:non-2xx status code|error response)?[^0-9<]{0,40}(\d{3})\b")
_CODE = re.compile(r"<Code>([A-Za-z0-9.]{1,64})</Code>")


def meaning_of(text: str) -> Meaning:
    """What obstore's text of a failure means."""
    if any(address in text for address in METADATA):
        return NO_CREDENTIALS
    code, status = code_of(text), _STATUS.search(text)
    if code is not None and (known := BY_CODE.get(code)) is not None:
        return known
    if status is not None:
        return _by_status(int(status[1]), code)
    return next((meaning for sign, meaning in BY_SIGN if sign in text), CUT)


def code_of(text: str) -> str | None:
    """The code of S3's answer, such as ``NoSuchBucket``."""
    match = _CODE.search(text)
    return match[1] if match else None


def refusal(error: BaseException, where: str) -> WorldError:
    """The error for a failure, in clear words: one that may pass, or one that will not."""
    meaning = meaning_of(str(error))
    kind = BucketUnavailable if meaning.passes else BucketRefused
    return kind(meaning.what, where, meaning.remedy)


def _by_status(status: int, code: str | None) -> Meaning:
    told = f"{status}{f' {code}' if code else ''}"
    if (known := BY_STATUS.get(status)) is not None:
        return known._replace(what=f"{known.what} ({told})")
    if status >= 500:
        return FAILING._replace(what=f"{FAILING.what} ({told})")
    return Meaning(f"the bucket refuses ({told})")
