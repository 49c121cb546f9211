"""Counts in, vectors and covectors out."""
