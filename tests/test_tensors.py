"""Files of tensors: what safetensors itself writes is read, and what is written safetensors reads."""

from __future__ import annotations

import io

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of
from safetensors.numpy import load_file, save_file

from gensim_hilbert.tensors import DTYPES, TYPES, ChecksummedFile, DamagedFile, TensorFile, file_crc32, write_tensors

SOME_ARRAYS = st.dictionaries(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8).filter(
        lambda name: name != "__metadata__"
    ),
    st.sampled_from(sorted(TYPES)).flatmap(
        lambda kind: arrays_of.arrays(kind, arrays_of.array_shapes(min_dims=0, min_side=0, max_dims=3, max_side=5))
    ),
    min_size=1,
    max_size=5,
)


@hypothesis.given(SOME_ARRAYS)
def test_safetensors_and_we_read_each_other(tmp_path, arrays):
    path = tmp_path / "file.safetensors"
    with open(path, "wb") as raw:
        file = ChecksummedFile(raw)
        write_tensors(file, arrays)
    assert (file.bytes, file.crc32) == (path.stat().st_size, file_crc32(path))
    for name, array in load_file(path).items():
        assert (array.dtype, array.shape, array.tobytes()) == (
            arrays[name].dtype,
            arrays[name].shape,
            arrays[name].tobytes(),
        )
    save_file({name: np.ascontiguousarray(array).reshape(array.shape) for name, array in arrays.items()}, path)
    theirs = TensorFile(path)
    assert theirs.tensors.keys() == arrays.keys()
    for name, array in arrays.items():
        for mode in ("c", "r", None):
            assert theirs.read(name, mode).tobytes() == array.tobytes()
            assert theirs.read(name, mode).shape == array.shape


def test_arrays_are_written_whatever_their_order_in_memory(tmp_path):
    matrix = np.arange(6, dtype=">f4").reshape(2, 3)
    out = io.BytesIO()
    write_tensors(out, {"a": matrix.T, "b": matrix[:, ::2]})
    (tmp_path / "file").write_bytes(out.getvalue())
    file = TensorFile(tmp_path / "file")
    assert file.read("a").tolist() == matrix.T.tolist()
    assert file.read("b").tolist() == matrix[:, ::2].tolist()
    assert file.read("a").dtype == DTYPES["F32"]
    assert file.tensors["a"].offset % 64 == 0


def test_a_missing_tensor_and_a_missing_file_are_named(tmp_path):
    save_file({"x": np.zeros(3)}, tmp_path / "file")
    with pytest.raises(DamagedFile, match="file is damaged: it has no y"):
        TensorFile(tmp_path / "file").read("y")
    with pytest.raises(DamagedFile, match="nothing is damaged: it is missing"):
        TensorFile(tmp_path / "nothing")
