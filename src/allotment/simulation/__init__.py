"""Work on virtual time: one event loop over the schedulers' ``decide`` functions, and what came of it.

Nothing is decided here. A ``Setting`` says where and under which scheduler, ``Work`` what, ``RunTimes`` how
long a page takes, and a seed makes all that is left to chance the same every time; the ``Outcome`` is a
record of every pod, from which metrics, plans and pictures are made.
"""
