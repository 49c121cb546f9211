"""The explorer's page as one document that loads nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

from gensim_hilbert.explore.static_files import STATIC

HERE = Path(__file__).parent
POLICY = "default-src 'none'; script-src 'unsafe-inline' blob:; style-src 'unsafe-inline'; form-action 'none'"
# Links such as #word=yale would otherwise lead to the notebook around the page.
BASE = '<base href="about:srcdoc">'


def replaced(page: str, pattern: str, by: str | Callable[[re.Match[str]], str]) -> str:
    """Replace what must be in the page."""
    page, times = re.subn(pattern, by, page)
    assert times, pattern
    return page


@cache
def whole_page() -> str:
    """Return the page with its style and its modules in it, for a frame of the widget."""
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    modules = {path.name: path.read_text(encoding="utf-8") for path in sorted(STATIC.glob("*.js"))}
    text = json.dumps(modules).replace("<", "\\u003c")
    start = (HERE / "frame.js").read_text(encoding="utf-8")
    page = replaced(
        page, r'(<meta charset="utf-8">)', rf'\1<meta http-equiv="content-security-policy" content="{POLICY}">'
    )
    page = replaced(page, r'(name="answers" content=)"server"', r'\1"messages"')
    page = replaced(page, r'<link rel="icon"[^>]*>', BASE)
    page = replaced(
        page,
        r'<link rel="stylesheet" href="static/([\w.]+)">',
        lambda found: f"<style>{(STATIC / found[1]).read_text(encoding='utf-8')}</style>",
    )
    return replaced(
        page, r'<script type="module" src="static/app.js"></script>',
        lambda _: f'<script type="application/json" id="modules">{text}</script><script type="module">{start}</script>',
    )  # fmt: skip
