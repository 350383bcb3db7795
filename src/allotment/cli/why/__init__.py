"""What `allot why` is asked: a need of a file, what is on a cluster, a world that is held in name only."""
