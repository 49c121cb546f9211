"""Long arrays of numbers are written like short ones, only faster."""

import json

import numpy as np
import pytest

from gensim_hilbert.explore.encoding import as_json, numbers_as_json, rounded


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arrays_are_the_numbers_with_three_digits(dtype):
    random = np.random.default_rng(1)
    values = np.concatenate([
        random.normal(size=3000) * 10, random.normal(size=100) * 1e-3, [0, -0.0, 99.999, -99.999], [np.nan, np.inf],
    ]).astype(dtype)  # fmt: skip
    values = np.clip(values, -99.999, 99.999) if dtype == np.float64 else values
    found = json.loads(numbers_as_json(values))
    for number, value in zip(found, values.tolist(), strict=True):
        assert number == (pytest.approx(value, abs=0.00051) if np.isfinite(value) else None)
    assert json.loads(numbers_as_json(values[:3000])) == pytest.approx(rounded(values[:3000]), abs=0.00101)


@pytest.mark.parametrize("values", [[], [100.0], [-1e30, 3], [np.nan, 100.0]])
def test_other_arrays_are_written_too(values):
    found = json.loads(numbers_as_json(np.array(values, dtype=np.float64)))
    assert found == [None if np.isnan(value) else value for value in values]


def test_objects_with_arrays():
    found = json.loads(as_json({"by": 'pm"i', "word": None, "values": np.array([1.0, np.nan])}))
    assert found == {"by": 'pm"i', "word": None, "values": [1.0, None]}
    assert json.loads(as_json({"a": [float("nan"), {"b": float("inf")}]})) == {"a": [None, {"b": None}]}
