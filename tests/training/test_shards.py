"""Shards on the device."""

import torch

from gensim_hilbert.training import shards as shards_module
from gensim_hilbert.training.shards import Slabs


def test_slabs_keep_copies_one_beside_the_other(monkeypatch):
    monkeypatch.setattr(shards_module, "SLAB", 256)
    slabs = Slabs()
    given = [torch.arange(k, dtype=kind) for k in (3, 0, 40, 5, 1) for kind in (torch.int64, torch.float32)]
    kept = [slabs.keep(x) for x in given]
    for x, copy in zip(given, kept, strict=True):
        assert torch.equal(x, copy)
        assert x.dtype == copy.dtype
        x += 1
        assert len(x) == 0 or not torch.equal(x, copy)
    assert kept[0].untyped_storage().data_ptr() == kept[1].untyped_storage().data_ptr()
