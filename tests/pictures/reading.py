"""Reading pictures and pages back: as XML, with what they refer to."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from xml.etree import ElementTree as ET

HOSTILE = (
    "<script>alert(1)</script>",
    "\"onload='x' x=\"",
    "</title></svg><img src=x onerror=alert(1)>",
    "]]><!-- & &amp; &#x41; -->",
    "javascript:alert(1)",
    "\x00\x1b[31m\u202egnp\u2069\ud800\ufffe",
    "åäö 漢字 🙂 " + "x" * 300,
)


def parsed(markup: str) -> ET.Element:
    """A picture, or parts of a page, as XML."""
    return ET.fromstring(f"<parts>{markup}</parts>")


def page_parts(text: str) -> ET.Element:
    """A page, which is well-formed as XML too, and holds to what every page promises."""
    begin = "<!DOCTYPE html>\n"
    assert text.startswith(begin)
    root = ET.fromstring(text.removeprefix(begin))
    _policy(root)
    _needs_nothing_else(root, text)
    return root


def image(text: str) -> ET.Element:
    """A picture that is a file of its own, which needs nothing else either."""
    text = text.replace(' xmlns="http://www.w3.org/2000/svg"', "", 1)
    root = ET.fromstring(text)
    assert root.tag == "svg"
    _needs_nothing_else(root, text)
    return root


def _needs_nothing_else(root: ET.Element, text: str) -> None:
    names = {each.tag for each in root.iter()}
    assert not names & {
        "script",
        "link",
        "img",
        "iframe",
        "object",
        "embed",
        "image",
        "use",
        "foreignObject",
        "a",
    }
    for each in root.iter():
        for key, value in each.attrib.items():
            assert not key.startswith("on"), key
            assert key not in {"style", "href", "src", "action", "srcdoc"}, key
            assert "url(" not in value or value.startswith("url(#"), value
    assert "http:" not in text
    assert "https:" not in text
    assert "@import" not in text
    ids = Counter(each.get("id") for each in root.iter() if each.get("id"))
    assert [name for name, count in ids.items() if count > 1] == []
    referred = set(re.findall(r"url\(#([^)]*)\)", text))
    referred |= {name for each in root.iter() for name in (each.get("aria-labelledby") or "").split()}
    assert referred <= set(ids)


def _policy(root: ET.Element) -> None:
    """The policy allows this one style and nothing else."""
    metas = [each.get("content", "") for each in root.iter("meta") if each.get("http-equiv")]
    styles = [each.text or "" for each in root.iter("style")]
    assert len(metas) == len(styles) == 1
    digest = base64.b64encode(hashlib.sha256(styles[0].encode()).digest()).decode()
    assert metas[0].startswith(f"default-src 'none'; style-src 'sha256-{digest}';")
    assert "unsafe" not in metas[0]


def words(root: ET.Element) -> str:
    """All text of it."""
    return " ".join(text for text in root.itertext())
