"""What we ship is complete and works elsewhere, and errors say what is missing.

The sdist and the wheel are built here, unless the variable GENSIM_HILBERT_DIST names a folder that holds both.
"""

import os
import re
import shutil
import site
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = {path.stem for path in (ROOT / "cython_ext").glob("*.pyx")}
SOURCES = {path.name for path in (ROOT / "cython_ext").iterdir() if path.suffix in {".pyx", ".pxd", ".h"}}
COMPILED = ("*.so", "*.pyd", "__pycache__")


def copy_source(target, *, without=()):
    """Copy what a fresh clone holds, so that no build touches, or profits from, the working tree."""
    target.mkdir()
    for path in ROOT.iterdir():
        if path.suffix in {".toml", ".py", ".in", ".md", ".txt", ".cff"} or path.name in {"LICENSE", "Makefile"}:
            shutil.copy(path, target)
    for folder in ("gensim_hilbert", "cython_ext", "tests", "docs", "examples", "benchmarks"):
        shutil.copytree(ROOT / folder, target / folder, ignore=shutil.ignore_patterns(*COMPILED, *without))
    return target


def build(source, *options):
    # --no-isolation: the environment of the tests holds the build requirements, and needs no network.
    command = [sys.executable, "-m", "build", "--no-isolation", *options]
    return subprocess.run(command, cwd=source, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@pytest.fixture(scope="module")
def distributions(tmp_path_factory):
    """The folder with the sdist, and the wheel built from that sdist."""
    if "GENSIM_HILBERT_DIST" in os.environ:
        return Path(os.environ["GENSIM_HILBERT_DIST"])
    source = copy_source(tmp_path_factory.mktemp("packaging") / "source")
    result = build(source)
    assert result.returncode == 0, result.stdout
    return source / "dist"


@pytest.fixture(scope="module")
def sdist_names(distributions):
    (path,) = distributions.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        return {PurePosixPath(*PurePosixPath(name).parts[1:]) for name in archive.getnames()}


@pytest.fixture(scope="module")
def wheel(distributions):
    (path,) = distributions.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def wheel_names(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return {PurePosixPath(name) for name in archive.namelist()}


@pytest.mark.slow
def test_sdist_has_every_cython_source(sdist_names):
    shipped = {path.name for path in sdist_names if path.parts[:1] == ("cython_ext",) and path.suffix}
    assert shipped == SOURCES


@pytest.mark.slow
def test_sdist_has_all_that_the_readme_leads_to(sdist_names):
    targets = re.findall(r"\]\((?!http)([^)#]+)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert {PurePosixPath(target) for target in targets} <= sdist_names


@pytest.mark.slow
def test_sdist_has_nothing_generated(sdist_names):
    assert not {path for path in sdist_names if path.suffix in {".c", ".so", ".pyd", ".pyc"}}


@pytest.mark.slow
def test_wheel_has_every_compiled_module(wheel_names):
    compiled = {path.name.split(".")[0] for path in wheel_names if path.suffix in {".so", ".pyd"}}
    assert compiled == MODULES


@pytest.mark.slow
@pytest.mark.skipif(bool(sysconfig.get_config_var("Py_GIL_DISABLED")), reason="this Python has no stable ABI")
def test_one_wheel_serves_all_later_pythons(wheel, wheel_names):
    assert "-cp311-abi3-" in wheel.name
    suffix = {"win32": ".pyd"}.get(sys.platform, ".abi3.so")
    assert {f"gensim_hilbert/{module}{suffix}" for module in MODULES} <= {str(path) for path in wheel_names}


@pytest.mark.slow
def test_wheel_works_in_an_empty_environment_without_a_compiler(wheel, tmp_path):
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "empty"], check=True)
    programs = tmp_path / "empty" / ("Scripts" if sys.platform == "win32" else "bin")
    variables = {name: value for name, value in os.environ.items() if name not in {"CC", "CXX", "PYTHONPATH"}}
    variables["PATH"] = str(programs)
    assert not [name for name in ("cc", "gcc", "clang", "c++", "g++", "cl") if shutil.which(name, path=programs)]

    def python(*arguments):
        done = subprocess.run(
            [programs / "python", *arguments],
            cwd=tmp_path,
            env=variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout

    # The constraints keep pip from downloading other versions than those that are tested.
    options = ["-q", "--no-compile", "--only-binary", ":all:", "-c", ROOT / "constraints.txt"]
    python("-m", "pip", "install", *options, wheel)
    assert "like police" in python(Path(__file__).with_name("smoke.py"))


@pytest.mark.slow
def test_wheel_is_typed(wheel_names):
    assert PurePosixPath("gensim_hilbert/py.typed") in wheel_names
    stubs = {path.relative_to(ROOT) for path in (ROOT / "gensim_hilbert").rglob("*.pyi")}
    assert {PurePosixPath(stub.as_posix()) for stub in stubs} <= wheel_names


@pytest.mark.slow
def test_wheel_has_the_style_sheets_of_reports(wheel_names):
    sheets = {path.relative_to(ROOT) for path in (ROOT / "gensim_hilbert").rglob("*.css")}
    assert sheets
    assert {PurePosixPath(sheet.as_posix()) for sheet in sheets} <= wheel_names


@pytest.mark.slow
def test_wheel_has_the_package_and_nothing_else(wheel_names):
    top = {path.parts[0] for path in wheel_names}
    assert {name for name in top if not name.endswith(".dist-info")} == {"gensim_hilbert"}
    assert not {path for path in wheel_names if path.suffix in {".pyx", ".pxd", ".c"}}


def test_build_without_cython_sources_says_what_is_missing(tmp_path):
    result = build(copy_source(tmp_path / "source", without=["*.pyx"]), "--wheel")
    assert result.returncode != 0
    assert "no .pyx file in" in result.stdout


def test_import_of_uncompiled_tree_says_how_to_compile(tmp_path):
    shutil.copytree(ROOT / "gensim_hilbert", tmp_path / "gensim_hilbert", ignore=shutil.ignore_patterns(*COMPILED))
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    # -S skips .pth files: an editable install would else lend its compiled modules to the copy.
    result = subprocess.run(
        [sys.executable, "-S", "-c", "import gensim_hilbert"],
        cwd=elsewhere,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *site.getsitepackages()])},
        capture_output=True,
        text=True,
    )
    assert result.returncode != 0
    error = result.stderr.strip().splitlines()[-1]
    assert error.startswith("ImportError: ")
    assert "not compiled" in error
    assert "pip install -e ." in error
    assert any(module in error for module in MODULES), error
