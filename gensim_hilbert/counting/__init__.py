"""Corpus in, exact pair counts on disk out."""
