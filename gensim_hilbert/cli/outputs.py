"""Where verbs write to: local paths, or also URIs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from gensim_hilbert.locations import S3_SCHEMES, name_of, scheme_of
from gensim_hilbert.objects import ObjectPath
from gensim_hilbert.outputs import local_path, refuse_no_file


class LocalOutput(click.ParamType):  # type: ignore[type-arg]  # click 8.1 is not generic
    """A path on this machine; URIs are refused before any work is done."""

    name = "path"

    def __init__(self, what: str):
        self.what = what

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return a Path."""
        try:
            return local_path(value, self.what)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class FileOutput(LocalOutput):
    """A file on this machine; one that cannot be written is refused before any work is done."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Return a Path."""
        path = super().convert(value, param, ctx)
        try:
            refuse_no_file(path)
        except OSError as error:
            self.fail(str(error), param, ctx)
        return path


class CountsOutput(LocalOutput):
    """A path on this machine, or a place in a bucket."""

    def __init__(self) -> None:
        super().__init__("counts")

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a Path, or an ObjectPath."""
        if scheme_of(name_of(value)) not in S3_SCHEMES:
            return super().convert(value, param, ctx)
        try:
            return ObjectPath.parse(name_of(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)


class AnyOutput(click.ParamType):  # type: ignore[type-arg]  # click 8.1 is not generic
    """A path on this machine, or a URI that smart_open writes to."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return a str."""
        return name_of(value)
