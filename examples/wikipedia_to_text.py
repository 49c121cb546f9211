"""Convert a Wikipedia dump to text with one article per line, so that it need not be parsed for every training.

python examples/wikipedia_to_text.py OUTPUT [DUMP]        by default a small piece of a dump that comes with Gensim
"""

import sys

import smart_open
from gensim.corpora import WikiCorpus
from gensim.test.utils import datapath

SMALL = "enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2"

if __name__ == "__main__":  # WikiCorpus starts processes
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    output = sys.argv[1]  # .gz, .zst, s3:// ... too
    wiki = WikiCorpus(sys.argv[2] if len(sys.argv) > 2 else datapath(SMALL), dictionary={})
    articles = words = 0
    with smart_open.open(output, "w", encoding="utf-8") as file:
        for article in wiki.get_texts():
            file.write(" ".join(article) + "\n")
            articles, words = articles + 1, words + len(article)
    print(f"{output}: {articles:,} articles, {words:,} words")
