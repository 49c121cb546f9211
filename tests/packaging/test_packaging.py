"""What we ship: a complete sdist, a wheel of compiled modules, and readable errors where something is missing."""

import os
import re
import shutil
import site
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = {path.stem for path in (ROOT / "cython_ext").glob("*.pyx")}
HEADERS_AND_SOURCES = {path.name for pattern in ("*.pyx", "*.pxd") for path in (ROOT / "cython_ext").glob(pattern)}
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
def wheel_names(distributions):
    (path,) = distributions.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        return {PurePosixPath(name) for name in archive.namelist()}


@pytest.mark.slow
def test_sdist_has_every_cython_source(sdist_names):
    shipped = {path.name for path in sdist_names if path.parts[:1] == ("cython_ext",) and path.suffix}
    assert shipped == HEADERS_AND_SOURCES


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
