"""Where the files of the page are, for the server, the export and the widget."""

from pathlib import Path

STATIC = Path(__file__).parent / "static"
