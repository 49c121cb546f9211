"""From raw text to vectors of texts: runs the benchmarks text_NAME.py beside this file, one after the other.

python benchmarks/text.py [--only NAME ...]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from children import end_with_parent

SCRIPTS = {path.stem.removeprefix("text_"): path for path in sorted(Path(__file__).parent.glob("text_*.py"))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=SCRIPTS, default=list(SCRIPTS), metavar="NAME")
    for name in parser.parse_args().only:
        print(f"## {name}\n", flush=True)
        subprocess.run([sys.executable, SCRIPTS[name]], check=True, preexec_fn=end_with_parent)


if __name__ == "__main__":
    main()
