"""Training: from counts, or from text, to vectors and covectors."""
