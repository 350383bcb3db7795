"""What `allot queues` tells of this machine: how its teams stand, and how they stood over time."""
