"""`python -m allotment.cli`: the command where its script is not on the path."""

from allotment.cli import main

main()
