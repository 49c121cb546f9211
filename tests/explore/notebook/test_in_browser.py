"""The widget as people see it: in a page that runs widgets, in JupyterLab, and in marimo."""

import json
import shutil
import socket
import subprocess
import sys
import textwrap
import time
import urllib.request

import numpy as np
import pytest
from browser import Browser
from frames import frames
from helpers import keyed
from shell import environment

from gensim_hilbert import HilbertMLE
from gensim_hilbert.explore import widget

SCRIPT = "<script>parent.document.title='attacked'</script>"
TITLE = "document.getElementById('view-title').textContent"
PAINTED = "document.querySelector('#legend')?.textContent.trim()"
STARTS = 60  # seconds that a notebook may take to start
RUN = textwrap.dedent("""
    from gensim.test.utils import common_texts
    from gensim_hilbert import HilbertMLE
    from gensim_hilbert.explore import widget
    model = HilbertMLE(common_texts, vector_size=4, min_count=1, workers=1)
""").strip()


@pytest.fixture
def browser():
    with Browser() as found:
        yield found


@pytest.fixture
def model(news):
    """A model of few words, so that they are laid out at once."""
    return HilbertMLE(news, vector_size=5, min_count=10, max_final_vocab=80, workers=1)


def show(browser, address, scheme="light"):
    browser.open(address, width=1000, height=1500, scheme=scheme)


def shown(frame, title):
    frame.wait_for(f"{TITLE} === {json.dumps(title)}")
    frame.wait_for(PAINTED)


def complaints(browser, besides="asks for blob:"):
    """What went wrong, besides what is known, and besides modules, which are addresses within the page."""
    return [text for text in browser.complaints if besides not in text and "asks for blob:" not in text]


def test_two_widgets_live_side_by_side(browser, host, model):
    odd = keyed([SCRIPT, "plain"], np.random.default_rng(2).normal(size=(2, 4)))
    show(browser, host(model.explore("said"), widget(odd, SCRIPT)), "dark")
    left, right = frames(browser, 2)
    shown(left, "said")
    shown(right, SCRIPT)
    assert browser.ask("document.title") == "Notebook"
    left.ask("document.querySelector('#view tbody a').click()")
    left.wait_for(f"{TITLE} !== 'said'")
    assert left.ask(TITLE) == model.wv.most_similar("said", topn=1)[0][0]
    assert right.ask(TITLE) == SCRIPT
    left.ask("history.back()")
    shown(left, "said")
    for frame in (left, right):
        assert frame.ask("matchMedia('(prefers-color-scheme: dark)').matches"), "as the page around it"
        reached = "(() => { try { return parent.document.title } catch (error) { return error.name } })()"
        assert frame.ask(reached) == "SecurityError"
        assert frame.ask("fetch('https://example.com/').catch(() => 'refused')") == "refused"
    assert complaints(browser, besides="example.com") == []


def test_the_page_follows_a_model_that_is_trained_further(browser, host, model, news):
    show(browser, host(model.explore("said")))
    (frame,) = frames(browser, 1)
    shown(frame, "said")
    fresh = [["zeppelin", "said"]] * 50
    model.build_vocab(fresh, update=True)
    model.train(fresh, total_examples=50, epochs=1)
    frame.ask("document.querySelector('#view tbody a').click()")
    (frame,) = frames(browser, 1)
    frame.wait_for(f"!['said', 'Words'].includes({TITLE})")
    frame.ask("location.hash = '#word=zeppelin'")
    shown(frame, "zeppelin")
    assert complaints(browser) == []


def test_a_widget_that_is_moved_stays_where_it_was(browser, host, model):
    show(browser, host(model.explore("said")))
    (frame,) = frames(browser, 1)
    shown(frame, "said")
    frame.ask("location.hash = '#word=have'")
    shown(frame, "have")
    browser.ask("document.body.append(widgets[0].el)")
    (frame,) = frames(browser, 1)
    shown(frame, "have")
    assert complaints(browser) == []


def test_a_mistake_is_told_and_a_removed_widget_is_silent(browser, host, model):
    show(browser, host(model.explore("said")))
    (frame,) = frames(browser, 1)
    shown(frame, "said")
    frame.ask("location.hash = '#word=zyzzyva'")
    frame.wait_for("document.querySelector('[role=alert], .error')?.textContent.includes('zyzzyva')")
    assert browser.ask("(widgets[0].cleanup(), widgets[0].listeners.size)") == 0


def started(command, port, **variables):
    """Start a notebook server, and wait until it listens."""
    process = subprocess.Popen(
        command,
        env={**environment(), **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until = time.monotonic() + STARTS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            assert process.poll() is None, f"{command[0]} has ended"
            assert time.monotonic() < until, f"{command[0]} does not listen"
            time.sleep(0.2)
        else:
            return process


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@pytest.mark.slow
def test_jupyterlab_shows_the_explorer(browser, tmp_path):
    """JupyterLab may be installed anywhere on PATH, with anywidget beside it; the kernel is this interpreter."""
    nbformat = pytest.importorskip("nbformat")
    program = shutil.which("jupyter-lab") or pytest.skip(
        "JupyterLab is not installed: pip install jupyterlab anywidget"
    )
    kernel = tmp_path / "jupyter" / "kernels" / "ours"
    kernel.mkdir(parents=True)
    launch = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    described = {"argv": launch, "display_name": "ours", "language": "python", "env": environment()}
    (kernel / "kernel.json").write_text(json.dumps(described))
    sources = [
        RUN,
        'model.explore("trees")',
        'widget(model.wv, "graph")',
        "model.train(common_texts * 2, total_examples=18, epochs=1)",
        'model.explore("trees")',
    ]
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    names = {"name": "ours", "display_name": "ours", "language": "python"}
    (tmp_path / "notebooks").mkdir()
    nbformat.write(
        nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": names}), tmp_path / "notebooks" / "a.ipynb"
    )
    port = free_port()
    options = [
        f"--port={port}",
        "--no-browser",
        "--allow-root",
        "--IdentityProvider.token=",
        f"--ServerApp.root_dir={tmp_path / 'notebooks'}",
    ]
    process = started([program, *options], port, JUPYTER_PATH=str(tmp_path / "jupyter"), HOME=str(tmp_path))
    try:
        show(browser, f"http://127.0.0.1:{port}/lab/tree/a.ipynb?reset")
        browser.wait_for("document.querySelector('.jp-CodeCell .cm-content')", STARTS)
        wait_for_kernel(port)
        browser.ask("document.querySelector('.jp-CodeCell .cm-content').focus()")
        run_cells(browser, 3)
        left, right = frames(browser, 2, STARTS)
        shown(left, "trees")
        shown(right, "graph")
        run_cells(browser, 1)
        left.ask("location.hash = '#word=minors'")
        left, right = frames(browser, 2)
        shown(left, "minors")
        run_cells(browser, 1)
        browser.wait_for("document.querySelectorAll('iframe').length === 3", STARTS)
    finally:
        process.terminate()
        process.wait()


def wait_for_kernel(port):
    """Wait until JupyterLab's page is connected to its kernel: it would ask which one to take."""
    until = time.monotonic() + STARTS
    while True:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/sessions") as answer:
            kernels = [session["kernel"] for session in json.load(answer)]
        if any(kernel["connections"] and kernel["execution_state"] == "idle" for kernel in kernels):
            time.sleep(1)  # The page hears of it a little later.
            return
        assert time.monotonic() < until, kernels
        time.sleep(0.2)


def run_cells(browser, count):
    """Press Shift+Enter so many times."""
    for _ in range(count):
        for kind, text in (("keyDown", {"text": "\r"}), ("keyUp", {})):
            browser.call(
                "Input.dispatchKeyEvent",
                type=kind,
                key="Enter",
                code="Enter",
                windowsVirtualKeyCode=13,
                modifiers=8,
                **text,
            )
        time.sleep(0.5)


@pytest.mark.slow
def test_marimo_shows_the_explorer(browser, tmp_path):
    """Any marimo on PATH will do, if its Python has gensim, torch and anywidget, too."""
    program = shutil.which("marimo") or pytest.skip("marimo is not installed: pip install marimo")
    cells = [RUN + "\nreturn model, widget", 'model.explore("trees")\nreturn', 'widget(model.wv, "graph")\nreturn']
    heads = ["def _():", "def _(model):", "def _(model, widget):"]
    code = "import marimo\n\napp = marimo.App()\n"
    for head, cell in zip(heads, cells, strict=True):
        code += f"\n\n@app.cell\n{head}\n{textwrap.indent(cell, '    ')}\n"
    (tmp_path / "a.py").write_text(code + '\n\nif __name__ == "__main__":\n    app.run()\n')
    port = free_port()
    command = [program, "run", str(tmp_path / "a.py"), "--headless", "--no-token", "--port", str(port)]
    process = started(command, port, HOME=str(tmp_path))
    try:
        show(browser, f"http://127.0.0.1:{port}/")
        found = frames(browser, 2, STARTS)
        for frame in found:
            frame.wait_for(PAINTED)
        assert sorted(frame.ask(TITLE) for frame in found) == ["graph", "trees"]
        (first,) = (frame for frame in found if frame.ask(TITLE) == "trees")
        first.ask("location.hash = '#word=minors'")
        shown(first, "minors")
    finally:
        process.terminate()
        process.wait()
