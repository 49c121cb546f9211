"""Many clients that ask the explorer at once, each as soon as it has its last answer: a process of its own.

    python benchmarks/explore_load.py ADDRESS [--clients 200] [--seconds 60] [--only word]

ADDRESS is what `gensim-hilbert explore --no-browser` prints. Words are drawn from all words of the model by completing
random beginnings. Every request has a parameter with a number of its own, which the server does not read: no answer is
one that it remembers. The mix is what the page asks while somebody types words, looks at them and at the map.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import string
import time
import urllib.parse
from collections import defaultdict

MIX = {"complete": 30, "word": 30, "paint": 15, "pair": 10, "sum": 8, "substitute": 7}  # percent


class Client:
    """One connection that is kept open."""

    def __init__(self, address: str):
        parts = urllib.parse.urlsplit(address)
        self.host, self.port, self.path = parts.hostname or "", parts.port or 0, parts.path
        self.head = f" HTTP/1.1\r\nHost: {parts.netloc}\r\n\r\n"

    async def open(self) -> None:
        self.reader, self.writer = await asyncio.open_connection(self.host, self.port, limit=1 << 22)

    async def get(self, path: str) -> tuple[int, bytes]:
        self.writer.write(f"GET {self.path}{path}{self.head}".encode())
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = int(head.split(b"content-length: ")[1].split(b"\r\n")[0])
        return int(head[9:12]), await self.reader.readexactly(length)


async def some_words(client: Client) -> list[str]:
    """Return words of the model, found by completion."""
    beginnings = [a + b for a in string.ascii_lowercase for b in string.ascii_lowercase] + list(string.digits)
    found = []
    for beginning in beginnings:
        found += json.loads((await client.get(f"api/complete?prefix={beginning}&n=100"))[1])["words"]
    words = [word for word in found if word.isalnum() and word.isascii()] or found
    if not words:  # such as those of the benchmark, which all begin alike
        raise SystemExit("no words were found")
    return words


def question(name: str, words: list[str], number: int) -> str:
    """Return the path of a request that nobody has made before."""
    one, two, three = (words[int(random.random() * len(words))] for _ in range(3))
    query = {
        "complete": f"prefix={one[: 1 + number % 4]}",
        "word": f"word={one}",
        "paint": f"by={'pmi' if number % 2 else 'similarity'}&word={one}",
        "pair": f"context={one}&term={two}",
        "sum": f"expression={one}+-+{two}+%2B+{three}",
        "substitute": f"sentence=the+{one}+of+{two}+and+{three}+is&position=3",
    }[name]
    return f"api/{name}?{query}&number={number}"


async def load(address: str, clients: int, seconds: float, only: str | None) -> None:
    first = Client(address)
    await first.open()
    words = await some_words(first)
    times: dict[str, list[float]] = defaultdict(list)
    errors: dict[str, int] = defaultdict(int)
    names, weights = ([only], [1]) if only else (list(MIX), list(MIX.values()))
    numbers = iter(range(10**9))
    until = time.perf_counter() + seconds

    async def work() -> None:
        client = Client(address)
        await client.open()
        while time.perf_counter() < until:
            name = random.choices(names, weights)[0]
            path = question(name, words, next(numbers))
            start = time.perf_counter()
            try:
                status, _ = await client.get(path)
            except (OSError, EOFError, IndexError) as error:
                errors[repr(error)] += 1
                await client.open()
                continue
            times[name].append(1000 * (time.perf_counter() - start))
            if status != 200:
                errors[f"{name}: {status}"] += 1
        client.writer.close()

    spent = time.process_time()
    await asyncio.gather(*(work() for _ in range(clients)))
    spent = time.process_time() - spent
    everything = [value for some in times.values() for value in some]
    print(
        f"{clients} clients for {seconds:g} s, {len(words):,} words: {len(everything) / seconds:,.0f} answers per "
        f"second, {sum(errors.values())} errors; the clients took {1000 * spent / len(everything):.2f} ms of "
        "processor time per answer\n"
    )
    print("| question | answers | median, ms | 95% | longest |\n|---|---|---|---|---|")
    for name, values in [*sorted(times.items()), ("all", everything)]:
        values.sort()
        at = [values[min(len(values) - 1, int(len(values) * share))] for share in (0.5, 0.95, 1)]
        print(f"| {name} | {len(values):,} | " + " | ".join(f"{value:.0f}" for value in at) + " |")
    for error, count in errors.items():
        print(f"{count} x {error}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("address")
    parser.add_argument("--clients", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--only", choices=MIX)
    options = parser.parse_args()
    asyncio.run(load(options.address, options.clients, options.seconds, options.only))


if __name__ == "__main__":
    main()
