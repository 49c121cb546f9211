"""gensim's KeyedVectors, extended by what training needs."""
