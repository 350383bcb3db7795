"""Who gets what next, as pure functions: ``decide(state, memory, now, ties) -> (decisions, memory)``.

Both values are frozen; nothing is kept between calls but the memory that is handed back, no clock is read, no
number is drawn. Every decision says its reason.
"""
