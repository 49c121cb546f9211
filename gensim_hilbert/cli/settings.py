"""The options of the command line that are keywords of `HilbertMLE`, from the command line or from a file."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from gensim_hilbert.cli.names import OLD_OPTIONS, closest
from gensim_hilbert.options import OPTIONS, Option

Command = TypeVar("Command", bound=Callable[..., Any])


class Checked(click.ParamType):  # type: ignore[type-arg]  # click 8.1 is not generic
    """A value of a keyword, checked as `HilbertMLE` checks it."""

    def __init__(self, option: Option):
        self.option = option
        self.words = tuple(value for value in option.also if isinstance(value, str))
        self.name = "|".join(["FLOAT" if option.kind is float else "INTEGER", *self.words])

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return a number, or one of the words that are allowed besides."""
        if value in self.words:
            return value
        if self.words:
            try:
                value = float(value)
            except ValueError:
                self.fail(f"{value!r} is neither a number nor {' or '.join(self.words)}", param, ctx)
        value = (click.FLOAT if self.option.kind is float else click.INT).convert(value, param, ctx)
        every_core = self.option.name == "workers" and value < 0
        if not every_core and (complaint := self.option.complaint(value)):
            self.fail(f"it {complaint}", param, ctx)
        return value


class Setting(click.Option):
    """A keyword of `HilbertMLE`; if it is not given, it is not passed on, so that the default is Python's."""

    @property
    def python_default(self) -> Any:
        """The default of the keyword."""
        return OPTIONS[str(self.name)].default

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Return the help with that default."""
        record = super().get_help_record(ctx)
        default: Any = OPTIONS[str(self.name)].default_help or self.python_default
        if record is None or default is None:
            return record
        if isinstance(default, bool):
            default = (self.opts if default else self.secondary_opts)[0].lstrip("-")
        return record[0], f"{record[1]}  [default: {default}]"


def with_settings(function: Command) -> Command:
    """Add one option per keyword of `HilbertMLE` that can be given on a command line."""
    for name, option in reversed(OPTIONS.items()):
        if option.help:
            flag = name.replace("_", "-")
            flags = f"--{flag}/--no-{flag}" if option.kind is bool else f"--{flag}"
            function = click.option(flags, name, cls=Setting, type=click_type(option), default=None, help=option.help)(
                function
            )
    return function


def click_type(option: Option) -> Any:
    """Return what click has to make of the text that is given for an option."""
    if option.choices:
        return click.Choice(option.choices)
    return Checked(option) if option.kind in (int, float) else option.kind or str


def read_config(ctx: click.Context, param: click.Parameter, path: Path | None) -> None:
    """Make options from a TOML file the defaults of those that are not given."""
    if path is None:
        return
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError) as error:
        raise click.BadParameter(f"{path}: {error}", ctx, param) from None
    known = [str(other.name) for other in ctx.command.params if other.name not in ("config", "resume", "as_json")]
    for key in given:
        if key.replace("-", "_") not in known:
            old = OLD_OPTIONS.get(key.replace("_", "-"))
            said = f"; {key} {old}" if old else closest(key.replace("-", "_"), known)
            raise click.BadParameter(f"{path}: there is no option {key!r}{said.replace('--', '')}", ctx, param)
    ctx.default_map = {key.replace("-", "_"): as_text(value) for key, value in given.items()}


def as_text(value: Any) -> Any:
    """Return a value as a command line would have it: click would cut the number 1.5 down to 1, but refuses "1.5"."""
    return [str(part) for part in value] if isinstance(value, list) else str(value)
