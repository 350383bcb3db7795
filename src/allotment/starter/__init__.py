"""What `allot init` writes: a repository that runs as it stands, with a few scanned pages to read.

The files lie in `repository/` as they will be written (`dot-` stands for a leading dot); the pages are
typeset when they are asked for, from the texts in `repository/truth/`.
"""
