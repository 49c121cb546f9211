"""What is fitted: one small class for each low rank embedder."""
