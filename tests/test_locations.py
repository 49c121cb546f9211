"""What names tell: compression, scheme, and the package to install."""

import pytest

from gensim_hilbert import locations


@pytest.mark.parametrize(
    ("name", "compression", "plain"),
    [
        ("a/Vectors.bin.lz4", ".lz4", "vectors.bin"),
        ("v.vec.GZ", ".gz", "v.vec"),
        ("v.vec.zst", ".zst", "v.vec"),
        ("https://example.org/v.txt.xz?download=1", ".xz", "v.txt"),
        ("s3://bucket/what?.txt", "", "what?.txt"),
        ("v.bin", "", "v.bin"),
        ("gz", "", "gz"),
    ],
)
def test_a_name_tells_its_compression(name, compression, plain):
    assert locations.compression_of(name) == compression
    assert locations.uncompressed_name(name) == plain


@pytest.mark.parametrize(
    ("name", "package"),
    [
        ("s3://bucket/a.txt", "gensim-hilbert[s3]"),
        ("gs://bucket/a.txt", "gensim-hilbert[gcs]"),
        ("https://example.org/a.txt", "gensim-hilbert[http]"),
        ("a.txt.zst", "gensim-hilbert[zst]"),
        ("a.txt.lz4", "smart_open[lz4]"),
    ],
)
def test_an_error_names_what_to_install(name, package):
    error = locations.missing_package(name, ImportError("no module"))
    assert f"pip install '{package}'" in str(error)
    assert name in str(error)
