"""IIIF manifests: which images an archive publishes for a volume, and how to ask for each of them whole."""
