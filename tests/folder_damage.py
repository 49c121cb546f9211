"""Ways to damage files, by accident and on purpose."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any


def damage(path: Path, draw: random.Random) -> str:
    """Change a file as disks, networks and people do; returns what was done."""
    data = bytearray(path.read_bytes())
    place, length = draw.randrange(len(data) or 1), draw.randrange(1, 40)
    kind = draw.choice(["flip", "cut", "drop", "insert", "zero", "grow", "remove"])
    if kind == "flip":
        data[place] ^= 1 << draw.randrange(8)
    elif kind == "cut":
        del data[place:]
    elif kind == "drop":
        del data[place : place + length]
    elif kind == "insert":
        data[place:place] = draw.randbytes(length)
    elif kind == "zero":
        data[place : place + length] = bytes(len(data[place : place + length]))
    elif kind == "grow":
        data += draw.randbytes(length)
    path.unlink()  # it may have other names
    if kind != "remove":
        path.write_bytes(data)
    return f"{kind} {path.name} at {place}"


ODD_VALUES = [
    *(None, True, -1, 0, 1, 2**31, 2**63, 10**30, -(10**300), 0.5, 1e308, "", "x", "NaN", "../../etc/passwd"),
    *([], [[]], [-1], {}, {"a": {}}, ["x"] * 5, "\ud800", "os.system", float("nan")),
]


def places_in(value: Any, at: tuple = ()) -> list[tuple]:
    """The ways to all values within a value of JSON."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(place for key, part in inner for place in places_in(part, (*at, key)))]


def craft(value: Any, draw: random.Random) -> Any:
    """The same value of JSON, but for one part that is odd, missing, or called otherwise."""
    value = copy.deepcopy(value)
    *way, last = draw.choice(places_in(value)[1:])
    part = value
    for key in way:
        part = part[key]
    kind = draw.choice(["odd", "odd", "odd", "remove", "rename"])
    if kind == "odd":
        part[last] = copy.deepcopy(draw.choice(ODD_VALUES))
    elif kind == "remove" or isinstance(part, list):
        del part[last]
    else:
        part[str(draw.choice(["x", "__class__", "/dev/zero", "vectors"]))] = part.pop(last)
    return value


def craft_tensors(path: Path, draw: random.Random) -> None:
    """Write another header to a file of tensors."""
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = json.dumps(craft(json.loads(data[8 : 8 + length]), draw)).encode()
    header += b" " * (-(8 + len(header)) % 64)
    path.write_bytes(len(header).to_bytes(8, "little") + header + data[8 + length :])
