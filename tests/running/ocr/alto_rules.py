"""What every ALTO file of ours keeps to; shared by the tests that make some."""

from __future__ import annotations

import xml.etree.ElementTree as ET

NS = "{http://www.loc.gov/standards/alto/ns-v4#}"
PLACED = ("HPOS", "VPOS", "WIDTH", "HEIGHT")
REQUIRED = {
    "Page": ("ID", "PHYSICAL_IMG_NR", "WIDTH", "HEIGHT"),
    "PrintSpace": PLACED,
    "TextBlock": ("ID", *PLACED),
    "TextLine": ("ID", *PLACED),
    "String": ("ID", *PLACED, "CONTENT", "WC"),
    "SP": ("HPOS", "VPOS", "WIDTH"),
    "Polygon": ("POINTS",),
    "Processing": ("ID",),
}
CHILDREN = {
    "alto": ["Description", "Layout"],
    "Description": ["MeasurementUnit", "sourceImageInformation", "Processing"],
    "Layout": ["Page"],
    "Page": ["PrintSpace"],
    "PrintSpace": ["TextBlock"],
    "TextBlock": ["TextLine"],
    "TextLine": ["Shape", "String", "SP"],
    "Shape": ["Polygon"],
}


def checked_alto(data: bytes) -> ET.Element:
    """The parsed file, after every rule has been looked at."""
    root = ET.fromstring(data)
    assert root.tag == f"{NS}alto"
    page = next(root.iter(f"{NS}Page"))
    width, height = int(page.attrib["WIDTH"]), int(page.attrib["HEIGHT"])
    ids: list[str] = []
    for element in root.iter():
        name = element.tag.removeprefix(NS)
        for attribute in REQUIRED.get(name, ()):
            assert element.get(attribute) not in {None, ""}, (name, attribute)
        allowed = CHILDREN.get(name)
        if allowed:
            order = [allowed.index(child.tag.removeprefix(NS)) for child in element]
            assert name == "TextLine" or order == sorted(order), name
        if "ID" in element.attrib:
            ids.append(element.attrib["ID"])
        if "WIDTH" in element.attrib and name != "Page":
            _check_place(element, width, height)
        if "WC" in element.attrib:
            assert 0 <= float(element.attrib["WC"]) <= 1
    assert len(set(ids)) == len(ids)
    for line in root.iter(f"{NS}TextLine"):
        _check_line(line, width, height)
    return root


def _check_place(element: ET.Element, width: int, height: int) -> None:
    left, top, wide = (int(element.attrib[name]) for name in ("HPOS", "VPOS", "WIDTH"))
    assert 0 <= left
    assert 0 <= top <= height
    assert left + wide <= width
    assert wide >= (0 if element.tag == f"{NS}SP" else 1)
    if "HEIGHT" in element.attrib:
        assert int(element.attrib["HEIGHT"]) >= 1
        assert top + int(element.attrib["HEIGHT"]) <= height


def _check_line(line: ET.Element, width: int, height: int) -> None:
    names = [child.tag.removeprefix(NS) for child in line]
    words = names.count("String")
    assert names == ["Shape", *(["String", "SP"] * words)[:-1]]
    polygon = next(line.iter(f"{NS}Polygon"))
    points = [point.split(",") for point in polygon.attrib["POINTS"].split()]
    assert len(points) == 4
    assert all(0 <= int(x) <= width and 0 <= int(y) <= height for x, y in points)


def strings(root: ET.Element) -> list[str]:
    return [element.attrib["CONTENT"] for element in root.iter(f"{NS}String")]
