"""The actions of a cycle, a module each, in the order in which they run."""
