"""Train on text in an object store, and write the vectors back to it.

python examples/train_from_s3.py s3://bucket/news-*.txt.gz s3://bucket/vectors.bin

Credentials, region and endpoint are boto3's (AWS_PROFILE, AWS_ENDPOINT_URL ...): pip install 'gensim-hilbert[s3]'. The
same goes for gs:// and http(s)://, and for plain files.
"""

import sys

from gensim_hilbert import HilbertMLE, PairCounts
from gensim_hilbert.export import export, load_vectors

if len(sys.argv) != 3:
    sys.exit(__doc__)
text, output = sys.argv[1:]

# Counted once, the text need not be read again, however many models are made of it. Where the objects tell a version,
# an interrupted count goes on when it is started again.
counts = PairCounts.from_corpus(text, directory="s3.counts", overwrite=True)
print(f"{text}: {counts.vocabulary.tokens:,} tokens, {len(counts):,} words")

model = HilbertMLE.from_counts(counts, vector_size=50)
export(model, output)
print(f"{output}: {len(load_vectors(output)):,} vectors")
