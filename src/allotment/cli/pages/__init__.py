"""Plans, comparisons and the like as pages: one file each, which needs nothing but itself."""
