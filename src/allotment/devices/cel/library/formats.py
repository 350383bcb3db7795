"""Named formats: ``format.dns1123Label().validate(text)`` gives what is wrong, or nothing (apiserver, since
1.31).
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from typing import Final

from allotment.devices.cel import cel_types as t
from allotment.devices.cel.declarations import Library, Overload, member
from allotment.devices.cel.library.url_parsing import UrlError, parse_url
from allotment.devices.cel.problems import EvaluationError
from allotment.devices.cel.times import Timestamp
from allotment.devices.cel.values import NOTHING, Opaque, OptionalValue

_FORMAT: Final = t.struct("kubernetes.NamedFormat")
_REGEX_NOTE: Final = " (e.g. {0}, regex used for validation is '{1}')"

_LABEL: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_LABEL_RULE: Final = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start "
    "and end with an alphanumeric character"
)
_SUBDOMAIN: Final = rf"{_LABEL}(\.{_LABEL})*"
_SUBDOMAIN_RULE: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
    "start and end with an alphanumeric character"
)
_OLD_LABEL: Final = r"[a-z]([-a-z0-9]*[a-z0-9])?"
_OLD_LABEL_RULE: Final = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
    "character, and end with an alphanumeric character"
)
_NAME: Final = r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_NAME_RULE: Final = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character"
)
_VALUE: Final = rf"({_NAME})?"
_VALUE_RULE: Final = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "
    "start and end with an alphanumeric character"
)
_UUID: Final = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.IGNORECASE)
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its name, what finds faults, and how long its pattern is reckoned to be."""

    name: str
    faults: Callable[[str], list[str]] = field(compare=False)
    pattern_size: int = field(compare=False)


def _note(pattern: str, *examples: str) -> str:
    return _REGEX_NOTE.format(
        ", or ".join(f"'{example}'" for example in examples), pattern.replace(r"\.", r"\.")
    )


def _matching(
    pattern: str, rule: str, longest: int, *examples: str, prefix: bool = False
) -> Callable[[str], list[str]]:
    """Faults of a text that should match a pattern and not be too long."""
    compiled = re.compile(pattern, re.ASCII)

    def faults(text: str) -> list[str]:
        text = f"{text[:-1]}a" if prefix and text.endswith("-") else text
        found = [f"must be no more than {longest} bytes"] if len(text.encode()) > longest else []
        if not compiled.fullmatch(text):
            found.append(rule + _note(pattern, *examples))
        return found

    return faults


_dns_label = _matching(_LABEL, _LABEL_RULE, 63, "my-name", "123-abc")
_label_prefix = _matching(_LABEL, _LABEL_RULE, 63, "my-name", "123-abc", prefix=True)
_subdomain = _matching(_SUBDOMAIN, _SUBDOMAIN_RULE, 253, "example.com")
_name_part = _matching(_NAME, _NAME_RULE, 63, "MyName", "my.name", "123-abc")


def _qualified_name(text: str) -> list[str]:
    prefix, slash, name = text.rpartition("/")
    if "/" in prefix:
        note = _note(_NAME, "MyName", "my.name", "123-abc")
        suffix = " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"
        return [f"a qualified name {_NAME_RULE}{note}{suffix}"]
    found: list[str] = []
    if slash:
        found += (
            ["prefix part must be non-empty"]
            if not prefix
            else [f"prefix part {fault}" for fault in _subdomain(prefix)]
        )
    if not name:
        found.append("name part must be non-empty")
    return found + [f"name part {fault}" for fault in _name_part(name)]


def _uri(text: str) -> list[str]:
    try:
        parse_url(text)
    except UrlError as error:
        return [str(error)]
    return []


def _uuid(text: str) -> list[str]:
    return [] if _UUID.fullmatch(text) else ["does not match the UUID format"]


def _byte(text: str) -> list[str]:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return ["invalid base64"]
    return [] if text else ["invalid base64"]


def _date(text: str) -> list[str]:
    try:
        date.fromisoformat(text if _DATE.fullmatch(text) else "")
    except ValueError:
        return ["invalid date"]
    return []


def _datetime(text: str) -> list[str]:
    try:
        Timestamp.parse(text)
    except EvaluationError:
        return ["invalid datetime"]
    return []


_CONSTANTS: Final = {
    "dns1123Label": Format("DNS1123Label", _dns_label, 30),
    "dns1123Subdomain": Format("DNS1123Subdomain", _subdomain, 60),
    "dns1035Label": Format(
        "DNS1035Label", _matching(_OLD_LABEL, _OLD_LABEL_RULE, 63, "my-name", "abc-123"), 30
    ),
    "qualifiedName": Format("QualifiedName", _qualified_name, 60),
    "dns1123LabelPrefix": Format("DNS1123LabelPrefix", _label_prefix, 30),
    "dns1123SubdomainPrefix": Format(
        "DNS1123SubdomainPrefix", _matching(_SUBDOMAIN, _SUBDOMAIN_RULE, 253, "example.com", prefix=True), 60
    ),
    "dns1035LabelPrefix": Format(
        "DNS1035LabelPrefix",
        _matching(_OLD_LABEL, _OLD_LABEL_RULE, 63, "my-name", "abc-123", prefix=True),
        30,
    ),
    "labelValue": Format(
        "LabelValue", _matching(_VALUE, _VALUE_RULE, 63, "MyValue", "my_value", "12345"), 40
    ),
    "uri": Format("URI", _uri, 1103),
    "uuid": Format("uuid", _uuid, 72),
    "byte": Format("byte", _byte, 84),
    "date": Format("date", _date, 72),
    "datetime": Format("datetime", _datetime, 72),
}
_VALUES: Final = {name: Opaque(constant, _FORMAT) for name, constant in _CONSTANTS.items()}


def _named(name: str) -> OptionalValue:
    found = _VALUES.get(name)
    return NOTHING if found is None else OptionalValue(found)


def _validate(constant: Opaque, text: str) -> OptionalValue:
    faults = constant.data.faults(text)
    return OptionalValue(faults) if faults else NOTHING


def _constant(value: Opaque) -> Callable[[], Opaque]:
    return lambda: value


FORMATS: Final = Library(
    {
        **{
            f"format.{name}": (Overload(f"format.{name}", (), _FORMAT, _constant(value)),)
            for name, value in _VALUES.items()
        },
        "format.named": (Overload("format-named", (t.STRING,), t.optional_of(_FORMAT), _named),),
        "validate": (
            member("format-validate", (_FORMAT, t.STRING), t.optional_of(t.list_of(t.STRING)), _validate),
        ),
    },
)
