"""Use vectors in spaCy, which must be installed: pip install spacy

python examples/export_to_spacy.py [FOLDER] [TEXT]        by default the news texts that come with Gensim
"""

import subprocess
import sys
from pathlib import Path

from gensim.test.utils import datapath
from gensim.utils import simple_preprocess

from gensim_hilbert import HilbertMLE
from gensim_hilbert.export import export

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "news-spacy")
with open(sys.argv[2] if len(sys.argv) > 2 else datapath("lee_background.cor"), encoding="utf-8") as file:
    model = HilbertMLE([simple_preprocess(line) for line in file], vector_size=50, min_count=10, seed=1)

try:
    import spacy
except ImportError:
    sys.exit("this example needs spaCy: pip install spacy")

folder.mkdir(parents=True, exist_ok=True)
export(model, folder / "news.vec.gz")
subprocess.run(
    [sys.executable, "-m", "spacy", "init", "vectors", "en", folder / "news.vec.gz", folder / "pipeline"],
    check=True,
    stdout=sys.stderr,
)
nlp = spacy.load(folder / "pipeline")
first, second = map(nlp, ("Police arrested two people", "The court charged a man"))
print(f"{nlp.vocab.vectors.shape[0]:,} vectors in {folder / 'pipeline'}")
print(f"{first.text!r} and {second.text!r}: {first.similarity(second):.2f}")
