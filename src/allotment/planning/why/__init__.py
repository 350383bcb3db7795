"""Why a need fits into a world or not: the cause, where devices fall out, and the smallest changes."""
