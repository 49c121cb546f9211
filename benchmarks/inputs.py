"""Where the benchmarks find corpora and data sets."""

from __future__ import annotations

import os
from pathlib import Path

DATA = Path(os.environ.get("GENSIM_HILBERT_DATA", Path(__file__).parents[2] / "shared" / "data"))
