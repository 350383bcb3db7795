"""What on this machine and in the bucket is not ready, and how to mend it, as values for the command."""
