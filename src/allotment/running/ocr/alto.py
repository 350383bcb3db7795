"""A page's text as ALTO 4.4, the XML that libraries and archives keep beside their scans.

Source: the schema ``alto-4-4.xsd`` of the ALTO Editorial Board at the Library of Congress. Positions are in
pixels of the page as it was read: upright rectangles, and for lines their outline too, since a page may be
askew. There is no date in it, so that reading a page again gives the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from allotment.running.ocr.text import Block, Box, Line, PageText, box_around, clean, outline

NAMESPACE = "http://www.loc.gov/standards/alto/ns-v4#"
SCHEMA = "http://www.loc.gov/standards/alto/v4/alto-4-4.xsd"
DECLARATION = b'<?xml version="1.0" encoding="UTF-8"?>\n'


def as_alto(page: PageText, *, source: str, number: int, software: Sequence[tuple[str, str]]) -> bytes:
    """The page as an ALTO file; ``software`` is what made it, as names with versions, in order of use."""
    root = Element(
        "alto",
        {
            "xmlns": NAMESPACE,
            "xmlns:xsi": "http://www.w3.org/2001/XMLSchema-instance",
            "xsi:schemaLocation": f"{NAMESPACE} {SCHEMA}",
            "SCHEMAVERSION": "4.4",
        },
    )
    _describe(root, source, software)
    attributes = {
        "ID": "page",
        "PHYSICAL_IMG_NR": str(number),
        "WIDTH": str(page.width),
        "HEIGHT": str(page.height),
    }
    if page.language:
        attributes["LANG"] = page.language
    leaf = SubElement(SubElement(root, "Layout"), "Page", attributes)
    space = SubElement(leaf, "PrintSpace", _place(Box(0, 0, page.width, page.height)))
    for index, block in enumerate(page.blocks, start=1):
        _add_block(space, block, f"block_{index}", page)
    indent(root)
    return DECLARATION + tostring(root, encoding="unicode").encode() + b"\n"


def _describe(root: Element, source: str, software: Sequence[tuple[str, str]]) -> None:
    description = SubElement(root, "Description")
    SubElement(description, "MeasurementUnit").text = "pixel"
    SubElement(SubElement(description, "sourceImageInformation"), "fileName").text = clean(source)
    for index, (name, version) in enumerate(software, start=1):
        processing = SubElement(description, "Processing", {"ID": f"processing_{index}"})
        SubElement(processing, "processingCategory").text = "contentGeneration"
        made_by = SubElement(processing, "processingSoftware")
        SubElement(made_by, "softwareName").text = name
        SubElement(made_by, "softwareVersion").text = version


def _add_block(parent: Element, block: Block, name: str, page: PageText) -> None:
    corners = [corner for line in block.lines for corner in line.quad]
    place = _place(box_around(corners, page.width, page.height))
    element = SubElement(parent, "TextBlock", {"ID": name, **place})
    for index, line in enumerate(block.lines, start=1):
        _add_line(element, line, f"{name}_line_{index}", page)


def _add_line(parent: Element, line: Line, name: str, page: PageText) -> None:
    place = _place(box_around(line.quad, page.width, page.height))
    element = SubElement(parent, "TextLine", {"ID": name, **place})
    points = " ".join(f"{x},{y}" for x, y in outline(line.quad, page.width, page.height))
    SubElement(SubElement(element, "Shape"), "Polygon", {"POINTS": points})
    before: Box | None = None
    for index, word in enumerate(line.words, start=1):
        box = box_around(word.quad, page.width, page.height)
        if before:
            SubElement(element, "SP", _between(before, box))
        confidence = f"{word.confidence:.3f}"
        attributes = {"ID": f"{name}_word_{index}", **_place(box), "WC": confidence, "CONTENT": word.text}
        SubElement(element, "String", attributes)
        before = box


def _between(before: Box, after: Box) -> dict[str, str]:
    """The space between two words; words that touch leave one without width."""
    start = before.left + before.width
    top = min(before.top, after.top)
    return {"HPOS": str(start), "VPOS": str(top), "WIDTH": str(max(0, after.left - start))}


def _place(box: Box) -> dict[str, str]:
    return {
        "HPOS": str(box.left),
        "VPOS": str(box.top),
        "WIDTH": str(box.width),
        "HEIGHT": str(box.height),
    }
