"""The rules of ``allot devices lint`` beyond those of a reading; each has a page in docs/rules."""

from __future__ import annotations

from typing import Final

RULES: Final = {
    "attribute-form": "A standard attribute has a value that is not written as the standard has it.",
    "attribute-type": "An attribute that is known is of another type than everybody expects.",
    "attribute-type-varies": "One attribute is of different types on devices of one driver.",
    "bare-device": "A device says nothing of what it is: no attributes and no capacity.",
    "capacity-without-policy": "A device is shared by amounts, and does not say how they may be asked for.",
    "counter-too-small": "A device takes more of a counter than there is, and can never be given.",
    "counters-dropped": "More partitions of a card are there than it can hold, and nothing keeps them apart.",
    "duplicate-uuid": "Two devices of different pools have the same uuid.",
    "empty-attribute": "An attribute is the empty text.",
    "list-attribute": "An attribute is a list, which clusters read only behind a feature gate.",
    "memory-unit": "A card's memory is so small that its unit must be missing.",
    "no-generation": "A pool does not say its generation, and counts as generation 0.",
    "no-memory": "A card does not say how much memory it has.",
    "no-node": "A slice is of a node that is not there.",
    "no-pcie-root": "A device has a PCI address and does not say its PCIe root.",
    "no-uuid": "A card says neither a uuid nor a PCI address.",
    "nonstandard-attribute": "An attribute has nearly the name of a standard one, which is missing.",
    "nothing-published": "A slice holds neither devices nor counters.",
    "old-name": "A partition has a name as NVIDIA's driver gave it up to 25.8.",
    "old-version": "A slice is of an older version of the API.",
    "partitions-only": "A card is offered in partitions only, and never whole.",
    "pool-name": "The pool of a node has another name than the node.",
    "pool-of-two-nodes": "Slices of two nodes are in one pool.",
    "tainted-device": "A device is published with a taint.",
    "unused-counter-set": "No device takes from a counter set.",
    "virtual-card": "What is published as a card is a share of one, given to a virtual machine.",
    "zero-memory": "A card says that it has no memory, which means that it is not known.",
}
