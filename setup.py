"""Compile every cython_ext/_NAME.pyx to gensim_hilbert._NAME. All else is in pyproject.toml."""

import os
import sys
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

sources = sorted(Path("cython_ext").glob("*.pyx"))
headers = [header.as_posix() for header in sorted(Path("cython_ext").glob("*.h"))]
if not sources:
    # A package without its compiled modules would install, and fail only at import.
    raise SystemExit(
        f"gensim_hilbert cannot be built: no .pyx file in {Path('cython_ext').resolve()}. "
        "The source tree is incomplete: clone the repository again or unpack the sdist again."
    )

extensions = [
    Extension(
        f"gensim_hilbert.{source.stem}",
        [source.as_posix()],
        include_dirs=["cython_ext"],
        depends=headers,
        extra_compile_args=["/O2"] if sys.platform == "win32" else ["-O3"],
    )
    for source in sources
]

setup(
    ext_modules=cythonize(
        extensions,
        build_dir="build/cython",
        include_path=["cython_ext"],  # .pxd files
        compiler_directives={
            "language_level": 3,
            "boundscheck": False,
            "wraparound": False,
            "cdivision": True,
            "initializedcheck": False,
        },
    ),
    options={"build_ext": {"parallel": os.cpu_count()}},
)
