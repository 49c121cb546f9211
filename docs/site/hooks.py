"""Events of MkDocs: which files are pages, and what becomes of their links and formulas."""

from __future__ import annotations

import html
import re
from typing import Any

from contents import ROOT, assets, generated, pages, with_links_to_pages
from latex2mathml.converter import convert
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from pymdownx.slugs import slugify

FORMULA = re.compile(r'<(span|div) class="arithmatex">(?:\\\(|\\\[)(.*?)(?:\\\)|\\\])</\1>', re.DOTALL)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Give headings the anchors that they have on GitHub, and replace each "folder/*" of the nav by its pages."""
    config.mdx_configs["toc"]["slugify"] = slugify(case="lower")
    config.nav = _expanded(config.nav, list(generated()))
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Return the theme's files, and those of the site under the paths that they have in this repository."""
    themes = [file for file in files if file.src_dir != config.docs_dir]
    copied = [File.generated(config, path, abs_src_path=str(ROOT / path)) for path in [*pages(), *assets()]]
    made = [File.generated(config, path, content=text) for path, text in generated().items()]
    return Files([*themes, *copied, *made])


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Make links to examples lead to the pages that show them, and give pages without siblings the whole width."""
    if page.parent is None:
        page.meta["hide"] = ["navigation"]
    return with_links_to_pages(markdown)


def on_page_content(content: str, **_: Any) -> str:
    """Make MathML of formulas, which browsers show without a script."""
    return FORMULA.sub(
        lambda found: convert(html.unescape(found[2]), display="block" if found[1] == "div" else "inline"), content
    )


def _expanded(nav: Any, paths: list[str]) -> Any:
    """Return a part of the nav in which the pages of a folder stand for "folder/*"; one without pages is left out."""
    if isinstance(nav, list):
        return [_expanded(item, paths) for item in nav if _expanded(item, paths) != {}]
    if isinstance(nav, dict):
        ((title, value),) = nav.items()
        inside = _expanded(value, paths)
        return {title: inside} if inside else {}
    if nav.endswith("/*"):
        return [path for path in paths if path.rpartition("/")[0] == nav.removesuffix("/*")]
    return nav
