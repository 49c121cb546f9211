"""Evaluation of word embeddings on the paper's data sets, and on any others of their form."""

from gensim_hilbert.evaluation.analogy import AnalogyScore, SectionScore, analogies, compare_analogies
from gensim_hilbert.evaluation.classification import classification
from gensim_hilbert.evaluation.data import Data, find_data
from gensim_hilbert.evaluation.extrinsic import ExtrinsicScore, compare_extrinsic
from gensim_hilbert.evaluation.linear import LinearScore, linear
from gensim_hilbert.evaluation.similarity import SimilarityScore, compare_similarity, similarity
from gensim_hilbert.evaluation.sts import StsScore, compare_sts, sts
from gensim_hilbert.evaluation.tagging import most_frequent_tag, tagging

__all__ = [
    "AnalogyScore",
    "Data",
    "ExtrinsicScore",
    "LinearScore",
    "SectionScore",
    "SimilarityScore",
    "StsScore",
    "analogies",
    "classification",
    "compare_analogies",
    "compare_extrinsic",
    "compare_similarity",
    "compare_sts",
    "find_data",
    "linear",
    "most_frequent_tag",
    "similarity",
    "sts",
    "tagging",
]
