"""What `allot devices` shows beside its forms: rows, the lint of slices, loads for MIG layouts."""
