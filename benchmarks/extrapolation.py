"""What very large corpora take, computed from figures of benchmarks/RESULTS.md: nothing is measured here.

    python benchmarks/extrapolation.py

Each constant below is a measured figure, or a stated guess, and each line of `estimate` one formula. docs/scaling.md
has the table that this prints.
"""

from __future__ import annotations

from math import ceil, log
from typing import NamedTuple

COUNTING_NS = 134.0  # of one core per token: 67 ns with 2 workers at 100 million tokens
TEXT_BYTES = 5.9  # per token, as plain text; a third of it compressed
PAIRS_AT_25M = 17.0e6  # stored pairs of 25 million tokens and 49,405 words
BY_TOKENS = 0.72  # exponent: from 50 to 100 million tokens, stored pairs grew 1.65 times
BY_WORDS = 0.48  # exponent: from 6,000 to 49,405 words, stored pairs grew 2.8 times (beyond that only with 0.13)
STORED_BYTES = 5.9  # per stored pair
RUN_TOKENS = 1 << 26  # of which a worker makes one run
FAN_IN = 128  # runs that are merged at once
PAIR_NS = 42.9  # of one core per pair that occurs and pass, 300 dimensions
ROW_US = 1.27  # of one core per visit of a row: all but the pairs, at 300 dimensions
VISITS, PASSES = 512, 8  # of a row, and of the counts
MATRICES = 6  # of words x dimensions float32 while training
DIMENSIONS = 300
NETWORK_GB = 1.25  # per second, of a link of 10 Gbit/s


class Estimate(NamedTuple):
    """What one corpus takes."""

    pairs: float  # stored
    counting_hours: float  # of one core
    disk_gb: float  # of runs and shards together
    network_gb: float  # text read twice, runs written and read, shards written
    training_hours: float  # of one core
    training_gb: float  # memory


def estimate(tokens: float, words: float) -> Estimate:
    """Compute all columns of the table."""
    pairs = min(words**2 / 2, PAIRS_AT_25M * (tokens / 25e6) ** BY_TOKENS * (words / 49_405) ** BY_WORDS)
    runs = ceil(tokens / RUN_TOKENS)
    per_run = min(words**2 / 2, PAIRS_AT_25M * (RUN_TOKENS / 25e6) ** BY_TOKENS * (words / 49_405) ** BY_WORDS)
    levels = max(1, ceil(log(max(runs, 2)) / log(FAN_IN)))
    run_bytes, store_bytes = runs * per_run * STORED_BYTES, pairs * STORED_BYTES
    network = 2 * tokens * TEXT_BYTES / 3 + 2 * levels * run_bytes + store_bytes
    training = PASSES * 2 * pairs * PAIR_NS * 1e-9 + VISITS * words * ROW_US * 1e-6
    return Estimate(
        pairs,
        tokens * COUNTING_NS * 1e-9 / 3600,
        (run_bytes + store_bytes) / 1e9,
        network / 1e9,
        training / 3600,
        MATRICES * words * DIMENSIONS * 4 / 1e9,
    )


def short(number: float) -> str:
    """Write a number with two digits that count."""
    if number >= 1000:
        return f"{float(f'{number:.2g}'):,.0f}"
    return f"{number:.2g}" if number < 10 else f"{float(f'{number:.2g}'):.0f}"


def main() -> None:
    """Print the table."""
    columns = ["tokens", "words", "stored pairs", "counting, core hours", "runs and store GB", "network GB"]
    columns += [f"hours of it at {NETWORK_GB} GB/s", "training, core hours", "training, GB of memory"]
    print(f"| {' | '.join(columns)} |")
    print("|---" * len(columns) + "|")
    for tokens, name in ((5.4e9, "5.4 billion"), (100e9, "100 billion"), (1e12, "1 trillion")):
        for words in (50_000, 400_000, 5_000_000):
            found = estimate(tokens, words)
            cells = [name, f"{words:,}", f"{short(found.pairs / 1e9)} billion", short(found.counting_hours)]
            cells += [short(found.disk_gb), short(found.network_gb), short(found.network_gb / NETWORK_GB / 3600)]
            cells += [short(found.training_hours), short(found.training_gb)]
            print(f"| {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
