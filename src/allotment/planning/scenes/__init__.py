"""From files, a platform and a world to what a simulation plays: one path to the claim.

What is rendered for a cluster is what is simulated: claims, labels and queues are made as `allot render` and
`allot apply` make them, and read back as a cluster's objects are.
"""
