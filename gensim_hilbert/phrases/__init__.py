"""Phrases: words that belong together, found by how often they follow each other, and joined to one word."""
