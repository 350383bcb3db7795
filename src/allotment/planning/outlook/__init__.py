"""What the schedulers of a cluster would do next, by their models: one form of answer, whoever decides."""
