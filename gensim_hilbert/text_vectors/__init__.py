"""Vectors of texts, made of the vectors of their words."""
