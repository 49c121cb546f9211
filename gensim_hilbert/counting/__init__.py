"""Counts the pairs of words of a corpus, exactly, into a store on disk."""
