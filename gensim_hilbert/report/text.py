"""Tables of the report."""

from __future__ import annotations

from collections.abc import Sequence

from gensim_hilbert.markup import safe


def table(heading: Sequence[str], rows: Sequence[Sequence[str]], label: str) -> str:
    """Return a table that scrolls within itself. Cells are HTML; all but the first of each row are numbers."""
    head = "".join(f'<th scope="col">{cell}</th>' for cell in heading)
    body = "".join(
        f'<tr><th scope="row">{first}</th>{"".join(f"<td>{cell}</td>" for cell in rest)}</tr>' for first, *rest in rows
    )
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{safe(label)}">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
