"""Train on text in an object store, and write the vectors back to it.

python examples/train_from_s3.py s3://bucket/news-*.txt.gz s3://bucket/vectors.bin

This needs boto3 (pip install 'gensim-hilbert[s3]'), which finds credentials, region and endpoint in its own settings
(AWS_PROFILE, AWS_ENDPOINT_URL ...). gs://, http(s):// and plain files work in the same way.
"""

import sys

from gensim_hilbert import HilbertMLE, PairCounts
from gensim_hilbert.export import export, load_vectors

if len(sys.argv) != 3:
    sys.exit(__doc__)
text, output = sys.argv[1:]

# Once the text is counted, many models can be trained without reading it again. If the objects have versions, counting
# that was interrupted goes on when it is started again.
counts = PairCounts.from_corpus(text, directory="s3.counts", overwrite=True)
print(f"{text}: {counts.vocabulary.tokens:,} tokens, {len(counts):,} words")

model = HilbertMLE.from_counts(counts, vector_size=50)
export(model, output)
print(f"{output}: {len(load_vectors(output)):,} vectors")
