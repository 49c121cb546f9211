"""The reader in the documentation, which needs nothing but Python, reads the stores that are kept here."""

import hashlib
import json
import zlib
from fractions import Fraction

import pytest
from documents import BLOCKS, ROOT
from frozen_stores import FOLDER, STORES, sentences
from reference import pairs_of, word_counts


@pytest.mark.parametrize("name", STORES)
def test_the_reader_in_the_documentation_reads_the_stores(name):
    """By nothing but what formats.md says, checksums and fingerprint included."""
    names = {}
    reader = next(block.text for block in BLOCKS[ROOT / "docs" / "formats.md"] if "def read_counts" in block.text)
    exec(reader, names)
    words, table = names["read_counts"](FOLDER / name)
    kept = STORES[name]
    assert dict(words) == word_counts(sentences())
    expected = pairs_of(sentences(), [word for word, _ in words], kept.left, kept.right, kept.weights)
    manifest = json.loads((FOLDER / name / "manifest.json").read_text())
    scale = manifest["window"]["scale"]
    assert {key: Fraction(round(weight * scale), scale) for key, weight in table.items()} == expected
    contexts, terms = names["read_npy"](FOLDER / name / "marginals.npy")
    for k in range(len(words)):
        assert contexts[k] == sum(weight for (i, _), weight in expected.items() if i == k) * scale
        assert terms[k] == sum(weight for (_, j), weight in expected.items() if j == k) * scale
    assert manifest["total"] == sum(contexts)
    files = [(FOLDER / name / file).read_bytes() for file in ("vocabulary.jsonl", "index.npy", "marginals.npy")]
    identity = json.dumps([manifest["window"], manifest["mirrored"]]).encode() + b"".join(files)
    assert manifest["fingerprint"] == hashlib.sha256(identity).hexdigest()
    for file, facts in manifest["files"].items():
        data = (FOLDER / name / file).read_bytes()
        assert (len(data), zlib.crc32(data)) == (facts["bytes"], facts.get("crc32", zlib.crc32(data)))
    crc32 = manifest.pop("crc32")
    assert zlib.crc32(json.dumps(manifest).encode()) == crc32
