"""How ranks find each other again after torchrun has restarted them.

torchrun keeps one store of keys and values over all restarts. It still has what the dead processes have written: their
addresses, and the reason why they failed. So each start of all ranks gets keys of its own. Other numbers would not do,
such as TORCHELASTIC_RESTART_COUNT, which differs between machines.
"""

from __future__ import annotations

import time
from secrets import token_hex
from typing import Any

PAUSE = 0.01  # Seconds between two looks at the store.


def store_of_this_start(store: Any, rank: int, size: int, limit: float) -> Any:
    """Return a part of a store that only the ranks of this start know; wait for all of them, `limit` seconds at most.

    Every rank but 0 leaves a name that was never used before. Rank 0 answers all names, also those of dead processes,
    with the name of this start, until as many ranks as there are have read it. Processes of an earlier start are gone
    when the first of this one begins.
    """
    from torch.distributed.distributed_c10d import PrefixStore

    until, name = time.monotonic() + limit, token_hex(8)

    def wait_a_little() -> None:
        if time.monotonic() > until:
            raise RuntimeError("timed out")
        time.sleep(PAUSE)

    if rank == 0:
        start, answered, unanswered = name, 0, set()
        while store.add(f"arrived at {start}", 0) < size - 1:
            arrivals = store.add("arrivals", 0)
            unanswered |= set(range(answered + 1, arrivals + 1))
            answered = arrivals
            for number in [number for number in unanswered if store.check([f"arrival {number}"])]:
                store.set(f"start of {store.get(f'arrival {number}').decode()}", start)
                unanswered.remove(number)
            wait_a_little()
    else:
        store.set(f"arrival {store.add('arrivals', 1)}", name)
        while not store.check([f"start of {name}"]):
            wait_a_little()
        start = store.get(f"start of {name}").decode()
        store.add(f"arrived at {start}", 1)
    return PrefixStore(start, store)
