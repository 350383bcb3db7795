"""Where a volume's pages come from: one module a kind of source."""
