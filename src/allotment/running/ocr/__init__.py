"""Reading text off a page: the recogniser, the order of what it found, and the forms in which it is kept.

Only `reader` knows the libraries that recognise text; it is imported when a step is made. The rest is plain
values: a page's text is blocks of lines of words, each with where it stands.
"""
