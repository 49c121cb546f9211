"""Train on a Wikipedia dump without a text file in between: any object that has `get_texts()` is a corpus.

python examples/stream_wikipedia.py [DUMP]        by default a small piece of a dump that comes with Gensim

The dump is parsed twice, once for the words and once for the pairs. To train on it several times, convert it to a text
file first with wikipedia_to_text.py. The Gibbs solver, which reads the text once per epoch, needs that file even more.
"""

import sys

from gensim.corpora import WikiCorpus
from gensim.test.utils import datapath

from gensim_hilbert import HilbertMLE

SMALL = "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"

if __name__ == "__main__":  # WikiCorpus starts processes
    wiki = WikiCorpus(sys.argv[1] if len(sys.argv) > 1 else datapath(SMALL), dictionary={})
    model = HilbertMLE(wiki, vector_size=50, max_final_vocab=1500)
    print(f"{model.corpus_count:,} articles, {model.corpus_total_words:,} words, of which {len(model.wv):,} are kept")
    for word in ("war", "language", "university"):
        if word in model.wv:
            like = ", ".join(other for other, _ in model.wv.most_similar(word, topn=5))
            beside = ", ".join(other for other, _ in model.most_cooccurring(word, topn=5))
            print(f"{word}: like {like}; goes with {beside}")
