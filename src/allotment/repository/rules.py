"""Every rule that a finding about files can name, with its meaning in one line.

The ids are stable: people filter by them. The rooms to the left of this one use them as plain words.
"""

from __future__ import annotations

from typing import Final

DOCUMENT_RULES: Final = {
    "control-character": "The file holds a control character, which YAML does not allow.",
    "duplicate-key": "A mapping has one key twice; YAML readers would silently take one of them.",
    "file-empty": "The file holds nothing.",
    "file-too-large": "The file is larger than any description of work needs to be.",
    "file-unreadable": "The file could not be opened.",
    "hidden-line-end": "The file holds a character that ends a line for YAML and not for editors.",
    "key-not-text": "A key of a mapping is a list or a mapping.",
    "nested-too-deep": "Lists and mappings are nested too deeply.",
    "not-a-file": "Where a file was expected there is a folder, a pipe or a device.",
    "not-utf8": "The file is not encoded as UTF-8.",
    "several-documents": "The file holds more than one YAML document.",
    "yaml-anchor": "The file uses anchors or aliases, which can make a small file stand for a huge one.",
    "yaml-syntax": "The file is not YAML.",
    "yaml-tab": "The file is indented with a tab.",
    "yaml-tag": "The file uses tags, which name types to build.",
    "yaml-trap": "YAML reads a value as something else than text, or readers of YAML disagree on it.",
}
VALUE_RULES: Final = {
    "bad-address": "An address is no plain absolute web address.",
    "bad-bucket": "A bucket is neither a folder nor an address of an object store.",
    "bad-duration": "A duration cannot be read.",
    "bad-folder": "A folder's name is not plain.",
    "bad-image": "An image, or a repository of images, cannot be read.",
    "bad-name": "A name has letters, a length or an ending that it may not have, or is taken.",
    "bad-quantity": "A quantity cannot be read, has no unit, or is nothing.",
    "bad-range": "A range ends before it begins.",
    "bad-template": "The template of sources has no single place for a reference.",
    "bad-text": "A text is not of the form that is wanted here.",
    "cpu-and-card": "A need asks for processor cores and for a card at once.",
    "empty-list": "A list, or a mapping, that must hold something is empty.",
    "missing-key": "A key that must be there is not.",
    "no-value": "A key has no value.",
    "one-of": "Exactly one of several keys must be there.",
    "out-of-range": "A number is too small or too large.",
    "secret-in-file": "Something looks like a secret, and a file in a repository is no place for one.",
    "share-and-sharing": "A share of a card and the way of sharing it do not go together.",
    "too-long": "A text is longer than it may be.",
    "unknown-format": "The file is of a format that this version does not read.",
    "unknown-key": "A key does not exist.",
    "unknown-size": "A size is not one of the platform's.",
    "unknown-word": "A word is not one of those that may stand here.",
    "wrong-type": "A value is of another type than is expected.",
}
REPOSITORY_RULES: Final = {
    "bucket-not-allowed": "Pages are to come from an object store's folder that the platform does not name.",
    "duplicate-volume": "Two volumes of one campaign have the same id.",
    "file-escapes": "A file or folder of the repository is a link that leads out of it.",
    "file-not-read": "A file looks like ours and is not read.",
    "folder-escapes": "A folder of pages is outside the repository.",
    "host-not-allowed": "Pages are to come from a host that the platform does not name.",
    "image-not-allowed": "An image comes from a repository of images that the platform does not name.",
    "image-not-pinned": "An image is named without its digest.",
    "missing-folder": "A folder of pages does not exist in the repository.",
    "name-in-file": "A name is written inside a file whose own name counts.",
    "no-template": "Volumes are bare references, and the platform has no template for them.",
    "not-a-folder": "What should be a folder of pages is something else.",
    "platform-not-used": "The repository's own platform file does not say that it is for this machine.",
    "sharing-not-allowed": "A card is to be shared in a way that the platform does not allow.",
    "size-and-need": "A size and a need of its own stand beside each other.",
    "step-of-image": "A step is nearly one of ours by name, and is taken for the image's own.",
    "unknown-lane": "A priority is not one of the platform's lanes.",
    "unknown-pipeline": "A campaign names a pipeline that does not exist.",
    "unknown-step": "A step is neither installed nor of the form module:function.",
    "unknown-topology": "A level of the layout is not one of the platform's.",
    "wrong-extension": "A file does not end in .yaml.",
}
RULES: Final = {**DOCUMENT_RULES, **VALUE_RULES, **REPOSITORY_RULES}
