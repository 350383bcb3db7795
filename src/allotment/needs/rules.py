"""Every rule that a check of needs can name, in one sentence each; each has a page in docs/rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

NOT_YET: Final = "not-in-this-version"
TOO_LARGE: Final = "claim-too-large"
UNKNOWN_CARD: Final = "unknown-card"
BAD_SELECT: Final = "bad-select"
MISSES_CARDS: Final = "memory-of-cards"
UNGUARDED: Final = "unguarded-key"
SAME_OF_ONE: Final = "same-of-one"
NEVER_FITS: Final = "never-fits"

NOT_ISOLATED: Final = "isolation-not-kept"
NO_ISOLATION: Final = "no-isolation"
CONFIG_MISMATCH: Final = "config-mismatch"
NOT_BY_FRACTION: Final = "not-by-fraction"
SHARE_OF_ANY: Final = "share-of-any-card"
SHARE_OVER_CARD: Final = "share-over-card"
WHOLE_SAME_CARD: Final = "whole-same-card"
NOT_RUN_HERE: Final = "sharing-not-here"
GIVEN_UP: Final = "way-given-up"
WAY_TWICE: Final = "way-twice"
NO_FRACTIONS: Final = "no-fractions-here"
GATE_OFF: Final = "gate-off"
INCOMPATIBLE_GATES: Final = "incompatible-gates"
NOT_MEASURED: Final = "not-measured"
MEASURED_ELSEWHERE: Final = "measured-elsewhere"
SHARE_BELOW_PEAK: Final = "share-below-peak"

STRICT_SELECT: Final = "strict-select"
WHOLE_SLICE: Final = "slice-is-whole-card"
MISSES_SLICES: Final = "memory-of-slices"
SMALLEST_SLICE: Final = "smallest-slice"
SLICES_APART: Final = "slices-apart"
SAME_REFUSED: Final = "same-card-refused"
SELECTOR_FAILS: Final = "selector-fails"
SHARED_NOT_WHOLE: Final = "shared-card-not-whole"

ONE_CLAIM: Final = "one-claim-for-all"
TOO_MANY_SHARE: Final = "too-many-share"
KUEUE_REFUSES: Final = "kueue-refuses"
KUEUE_UNCOUNTED: Final = "not-counted-by-kueue"
KUEUE_TOPOLOGY: Final = "kueue-topology"
KAI_CANNOT: Final = "kai-cannot"
KAI_UNCOUNTED: Final = "not-counted-by-kai"
NO_PREEMPTION: Final = "no-preemption"
TWO_LAYERS: Final = "two-quota-layers"
ELASTIC_WINDOW: Final = "elastic-window"
PAGE_OVER_GRACE: Final = "page-over-grace"
UNSUPPORTED: Final = "driver-not-supported"

RULES: Final[Mapping[str, str]] = {
    NOT_YET: "A need uses a key that this version of Allotment cannot do yet.",
    TOO_LARGE: "A need asks for more devices or alternatives than one claim can hold.",
    UNKNOWN_CARD: "A kind of card is named that neither the catalogue nor the platform knows.",
    BAD_SELECT: "A need's own selector is one that Kubernetes would refuse.",
    MISSES_CARDS: "A need's amount of memory leaves out cards that are sold with as much.",
    UNGUARDED: "A need's own selector fails on devices that do not publish what it reads.",
    SAME_OF_ONE: "A need asks what its cards share, and for one card.",
    NEVER_FITS: "Nothing in the world that was looked at can meet the need, whatever is free.",
    NOT_ISOLATED: "A need asks for isolation in hardware, and no way to share that it lists keeps it.",
    NO_ISOLATION: "A need shares a card in a way that does not keep pods out of each other's memory.",
    CONFIG_MISMATCH: "A need's configuration is not one that the driver takes for what is asked for.",
    NOT_BY_FRACTION: "A need for a fraction asks what only a claim can say.",
    SHARE_OF_ANY: "A need claims a part of a card without saying of which.",
    SHARE_OVER_CARD: "A need claims more of a card than any of the cards has that it takes.",
    WHOLE_SAME_CARD: "A need wants several whole cards to be one card.",
    NOT_RUN_HERE: "A need shares cards in a way that this machine's engine cannot do for it.",
    GIVEN_UP: "Of the ways to share a card that a need lists, some are left out.",
    WAY_TWICE: "A need lists one way to share a card twice.",
    NO_FRACTIONS: "A need asks for a fraction, and no KAI schedules for this platform.",
    GATE_OFF: "A way to share a card needs something that is off unless somebody switches it on.",
    INCOMPATIBLE_GATES: "Needs use ways to share a card that the driver does not do together.",
    NOT_MEASURED: "A need shares a card without isolation, and no measurement shows that it can.",
    MEASURED_ELSEWHERE: "A need without isolation may get a card that it was not measured on.",
    SHARE_BELOW_PEAK: "A need shares a card by less memory than the pipeline was measured to use.",
    STRICT_SELECT: "A need's own selector leaves out cards that have exactly the amount.",
    WHOLE_SLICE: "A need asks slices for memory that only the whole card in disguise has.",
    MISSES_SLICES: "A need's amount of memory leaves out slices that are named after as much.",
    SMALLEST_SLICE: "A need asks for slices and names no memory, and gets the smallest.",
    SLICES_APART: "A need asks for several slices, and nothing keeps them on one card.",
    SAME_REFUSED: "A need for slices of one card can be refused by Kubernetes though it fits.",
    SELECTOR_FAILS: "A need's own selector is an error on a device that is published.",
    SHARED_NOT_WHOLE: "A need asks for whole cards, and cards are published that are given out in shares.",
    ONE_CLAIM: "Pods share a card through one named claim, and so one card serves them all.",
    TOO_MANY_SHARE: "More pods share one claim than a claim can be reserved for.",
    KUEUE_REFUSES: "A need becomes a claim that Kueue does not admit.",
    KUEUE_UNCOUNTED: "A need asks for what Kueue does not see when it counts quota.",
    KUEUE_TOPOLOGY: "A layout is asked for, and Kueue places by it without seeing devices.",
    KAI_CANNOT: "A need becomes a claim that KAI does not place.",
    KAI_UNCOUNTED: "A need becomes a claim that KAI does not count in quota.",
    NO_PREEMPTION: "A priority is asked for, and the default scheduler takes no devices for it.",
    TWO_LAYERS: "Kueue and KAI both know quotas, and only one of them may hold them.",
    ELASTIC_WINDOW: "A window is a range, and nothing moves it unless the controller runs.",
    PAGE_OVER_GRACE: "A page can take longer than a pod is given to end.",
    UNSUPPORTED: "Cards are claimed from a driver that does not support it officially everywhere.",
}
