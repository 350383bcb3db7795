"""Pages and manifests from the network: whom to ask, how much to take, and when to give up."""
