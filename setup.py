"""Compile every cython_ext/_NAME.pyx to gensim_hilbert._NAME. All else is in pyproject.toml."""

import os
import sys
import sysconfig
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

folder = Path("cython_ext")
sources = sorted(folder.glob("*.pyx"))
if not sources:
    # A package without its compiled modules would install, and fail only at import.
    raise SystemExit(
        f"gensim_hilbert cannot be built: no .pyx file in {folder.resolve()}. "
        "The source tree is incomplete: clone the repository again or unpack the sdist again."
    )

# One wheel serves Python 3.11 and later, at no cost (benchmarks/RESULTS.md). Free-threaded Pythons have no stable ABI.
stable_abi = sys.implementation.name == "cpython" and not sysconfig.get_config_var("Py_GIL_DISABLED")

if sys.platform == "win32":
    flags = ["/O2"]
else:
    # Symbols for debuggers would make modules five times as large; CFLAGS=-g builds them in.
    # Nobody looks at errno; without it square roots become vector instructions.
    flags = ["-O3", "-fno-math-errno", *([] if "CFLAGS" in os.environ else ["-g0"])]

# `make sanitize` sets this: every access outside of an array, and whatever C leaves undefined, ends the process.
sanitizers = os.environ.get("GENSIM_HILBERT_SANITIZE", "")
if sanitizers:
    flags = ["-O1", "-g", "-fno-omit-frame-pointer", f"-fsanitize={sanitizers}", "-fno-sanitize-recover=all"]

extensions = [
    Extension(
        f"gensim_hilbert.{source.stem}",
        [source.as_posix()],
        depends=[header.as_posix() for header in sorted(folder.glob("*.h"))],
        include_dirs=[folder.as_posix()],
        define_macros=[("Py_LIMITED_API", "0x030B0000")] if stable_abi else [],
        py_limited_api=stable_abi,
        extra_compile_args=flags,
        extra_link_args=[f"-fsanitize={sanitizers}"] if sanitizers else [],
    )
    for source in sources
]

setup(
    ext_modules=cythonize(
        extensions,
        build_dir="build/cython",
        include_path=[folder.as_posix()],  # .pxd files
        compiler_directives={
            "language_level": 3,
            "boundscheck": False,
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": False,
        },
    ),
    options={
        "build_ext": {"parallel": os.cpu_count()},
        "bdist_wheel": {"py_limited_api": "cp311"} if stable_abi else {},
    },
)
