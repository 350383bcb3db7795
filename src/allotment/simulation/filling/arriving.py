"""In which order tasks come, and how many: shuffled, and repeated or left out until they ask for so much.

As in the experiments of "Beware of Fragmentation": the tasks of the trace in an order by chance, then further
ones drawn from them until the demand is a given part of all cards; where the trace asks for more than that,
tasks are left out by chance.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from allotment.simulation.filling.machines import Want


def arrivals(wants: Sequence[Want], most: float, stream: random.Random) -> list[Want]:
    """The tasks as they come; together they ask for at most ``most`` thousandths of cards."""
    order = list(wants)
    stream.shuffle(order)
    asked = sum(want.total for want in order)
    while asked > most:
        asked -= order.pop(stream.randrange(len(order))).total
    if not any(want.gpus for want in wants):
        return order
    while True:
        further = stream.choice(wants)
        if asked + further.total > most:
            return order
        asked += further.total
        order.append(further)
