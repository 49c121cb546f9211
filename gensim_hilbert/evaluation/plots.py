"""Pictures of scores."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence

from gensim_hilbert.evaluation.tables import Table
from gensim_hilbert.files import Staging
from gensim_hilbert.locations import AnyPath
from gensim_hilbert.outputs import local_path, refuse_no_file


def refuse_plot(path: AnyPath) -> None:
    """Raise an error if pictures cannot be drawn, or not in this file: scores may take hours to compute.

    Raises
    ------
    ImportError
        If matplotlib is missing.
    """
    try:
        from matplotlib.backend_bases import FigureCanvasBase
    except ImportError as error:
        raise ImportError("pictures need matplotlib: pip install 'gensim-hilbert[plot]'") from error
    refuse_no_file(local_path(path, "pictures"))
    known = FigureCanvasBase.get_supported_filetypes()
    if format_of(path) not in known:
        raise ValueError(f"the ending of {path} must tell the format: .{', .'.join(sorted(known))}")


def format_of(path: AnyPath) -> str:
    """Return the format that the ending of a file tells."""
    return os.path.splitext(path)[1].lstrip(".").lower()


def plot_tables(tables: Sequence[Table], path: AnyPath) -> None:
    """Draw scores with their spreads, one panel per table and one group of marks per data set.

    Parameters
    ----------
    tables : sequence of Table
        Such as `gensim_hilbert.evaluation.summary.similarity_table` returns.
    path : str or PathLike
        A file whose ending tells the format: .svg, .png, .pdf.

    Raises
    ------
    ImportError
        If matplotlib is missing.
    """
    refuse_plot(path)
    from matplotlib.figure import Figure

    widths = [max(len(table.columns), 3) for table in tables]
    figure = Figure(figsize=(1.5 + 0.75 * sum(widths), 3.6), layout="constrained")
    panels = figure.subplots(1, len(tables), squeeze=False, width_ratios=widths)[0]
    colours: dict[str, str] = {}
    for panel, table in zip(panels, tables, strict=True):
        shift = 0.7 / max(len(table.scores), 1)
        for place, (name, row) in enumerate(table.scores.items()):
            found = [(k, row[c]) for k, c in enumerate(table.columns) if c in row and not math.isnan(row[c].value)]
            panel.errorbar(
                [k + (place - (len(table.scores) - 1) / 2) * shift for k, _ in found],
                [score.value for _, score in found],
                yerr=[0.0 if math.isnan(score.spread) else score.spread for _, score in found],
                fmt="o",
                markersize=4,
                capsize=2,
                color=colours.setdefault(name, f"C{len(colours)}"),
                label=name,
            )
        panel.set_xticks(range(len(table.columns)), table.columns, rotation=45, ha="right")
        panel.set_xlim(-0.5, len(table.columns) - 0.5)
        panel.set_title(table.title, fontsize=10)
        panel.grid(axis="y", alpha=0.3)
    marks = {label: mark for panel in panels for mark, label in zip(*panel.get_legend_handles_labels(), strict=True)}
    figure.legend(marks.values(), marks, loc="outside lower center", ncols=4, fontsize=8, frameon=False)
    with Staging() as staging, staging.create(str(local_path(path, "pictures"))) as file:
        figure.savefig(file, format=format_of(path))
