"""gensim's saving, all or nothing: a pickle, and the arrays that gensim writes to files of their own beside it.

Everything is first written to the folder `.XXXXXXXX.saving.NAME` beside the target. The rename of the pickle is the one
step that switches from the old state to the new one:

- A model of this package finds its parts under names that no other save has: `NAME.parts-XXXXXXXX.wv.vectors.npy`. They
  are put in place before the pickle, and the parts of the save before are removed after it.
- KeyedVectors are read by gensim alone, which looks for `NAME.vectors.npy`. Where such a file is to be replaced, a
  pickle with all arrays inside takes the name first. It does for as long as the parts are exchanged.
"""

from __future__ import annotations

import errno
import glob
import inspect
import os
import re
import secrets
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gensim.utils import PICKLE_PROTOCOL, SaveLoad

from gensim_hilbert.files import naming, remove, rename_to_new, sync, sync_tree, temporary_name
from gensim_hilbert.locations import is_local, name_of
from gensim_hilbert.locks import turn_of

SEPARATE_FROM = 10 * 1024**2  # elements; gensim's default for arrays that get files of their own
LEFT_BY_SAVING = re.compile(r"\.[0-9a-f]{8}\.saving\..+")
PARTS = re.compile(r"\.parts-([0-9a-f]{8})\.")

FILES = "files"

# Writes an object to a path; arrays that have so many elements, or are named, go to files of their own.
Write = Callable[[str, "list[str] | None", int], None]


def is_path(target: Any) -> bool:
    """Tell whether something to save to is a path or a URI, and not an open file."""
    return isinstance(target, str | os.PathLike)


def new_tag() -> str:
    """Return a name for the parts of one save that no other save has."""
    return f"parts-{secrets.token_hex(4)}"


class Save:
    """One save in progress: what is written is in `folder` until `commit` puts it in place."""

    def __init__(self, target: str, folder: str, tag: str | None):
        self.target, self.folder, self.tag = target, folder, tag
        self.parent, self.name = os.path.split(target)
        self.files = os.path.join(folder, FILES)
        self.parts: dict[str, str] = {}  # names in `files`, and where they go
        self.interim: str | None = None  # a pickle with all arrays inside

    def write(self, write: Write, separately: list[str] | None, sep_limit: int) -> None:
        """Write the object, and once more with all arrays inside if that is needed on the way."""
        os.mkdir(self.files)
        write(self.main, separately, sep_limit)
        prefix = f"{self.target}.{self.tag}" if self.tag else self.target
        names = sorted(name for name in os.listdir(self.files) if name != self.name)
        self.parts = {name: prefix + name.removeprefix(self.name) for name in names}
        if os.path.lexists(self.target) and any(map(os.path.lexists, self.parts.values())):
            self.interim = os.path.join(self.folder, "interim", self.name)
            os.mkdir(os.path.dirname(self.interim))
            write(self.interim, [], sys.maxsize)
        sync_tree(self.folder)

    @property
    def main(self) -> str:
        """The file that takes the name of the target in the end."""
        return os.path.join(self.files, self.name)

    def commit(self, *, overwrite: bool = True) -> None:
        """Put everything in place, the pickle last."""
        if not overwrite and os.path.lexists(self.target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), self.target)
        if self.interim:
            put_file(self.interim, self.target)
            sync(self.parent)
        for name, place in self.parts.items():
            put_file(os.path.join(self.files, name), place)
        sync(self.parent)
        if overwrite:
            put_file(self.main, self.target)
        else:
            rename_to_new(self.main, self.target)
        sync(self.parent)

    def remove_other_parts(self) -> None:
        """Remove what earlier saves have left under their tags, now that nothing refers to it."""
        for path in glob.glob(f"{glob.escape(self.target)}.parts-*"):
            found = PARTS.match(path, len(self.target))
            if found and f"parts-{found[1]}" != self.tag:
                remove(path)


@contextmanager
def saving(target: str, tag: str | None = None) -> Iterator[Save]:
    """Save to a local path; other processes that save to the same one wait, and what killed ones have left goes."""
    target = os.path.abspath(target)
    if os.path.isdir(target):
        raise IsADirectoryError(f"{target} is a folder, where no file can be saved: choose another name")
    parent, name = os.path.split(target)
    with naming(target), turn_of(target):
        for path in Path(parent).glob(f".????????.saving.{glob.escape(name)}"):
            if LEFT_BY_SAVING.fullmatch(path.name):
                shutil.rmtree(path, ignore_errors=True)
        folder = os.path.join(parent, f".{secrets.token_hex(4)}.saving.{name}")
        os.mkdir(folder)
        try:
            yield Save(target, folder, tag)
        except OSError as error:
            if error.errno is not None or isinstance(error, FileExistsError):
                raise
            # This is how numpy fails to write an array.
            raise OSError(f"{target} cannot be saved; the disk may be full: {error}") from error
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def is_being_saved(path: str) -> bool:
    """Tell whether gensim has been asked to write to this path by `Save.write`."""
    files = os.path.dirname(path)
    return os.path.basename(files) == FILES and bool(LEFT_BY_SAVING.fullmatch(os.path.basename(os.path.dirname(files))))


def forget_parts(saved: SaveLoad) -> None:
    """Remove gensim's notes of which arrays have files of their own: in an open file, all of them are inside."""
    for one in (saved, *vars(saved).values()):
        if isinstance(one, SaveLoad):
            for note in ("__numpys", "__scipys", "__ignoreds", "__recursive_saveloads"):
                vars(one).pop(note, None)


def put_file(fresh: str, target: str) -> None:
    """Put a file in the place of another; if that is a symbolic link, it stays one."""
    place = os.path.realpath(target)
    try:
        os.replace(fresh, place)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        beside = temporary_name(place)  # The link leads to another file system.
        try:
            shutil.copyfile(fresh, beside)
            sync(beside)
            os.replace(beside, place)
        finally:
            remove(beside)


@contextmanager
def attributes_kept(saved: SaveLoad) -> Iterator[None]:
    """Give an object back what gensim takes away while it saves, and does not give back after an error."""
    objects = [saved, *(value for value in vars(saved).values() if isinstance(value, SaveLoad))]
    before = [(one, dict(vars(one))) for one in objects]
    try:
        yield
    except BaseException:
        for one, attributes in before:
            one.__dict__.clear()
            one.__dict__.update(attributes)
        raise


def writer_of(saved: SaveLoad, ignore: Any = frozenset(), pickle_protocol: int = PICKLE_PROTOCOL) -> Write:
    """Return a function that writes an object as gensim does."""

    def write(path: str, separately: list[str] | None, sep_limit: int) -> None:
        with attributes_kept(saved):
            SaveLoad._smart_save(saved, path, separately, sep_limit, ignore, pickle_protocol=pickle_protocol)

    return write


def note_saving(saved: SaveLoad, target: str, separately: Any, sep_limit: int, ignore: Any) -> None:
    """Note the event as gensim's `save` does."""
    saved.add_lifecycle_event(
        "saving", fname_or_handle=target, separately=str(separately), sep_limit=sep_limit, ignore=ignore
    )


def is_replaceable(target: str) -> bool:
    """Tell whether a target is a local file or free: others, such as buckets and pipes, are written to directly."""
    return is_local(target) and (not os.path.exists(target) or os.path.isfile(target) or os.path.isdir(target))


def save_vectors(
    vectors: SaveLoad,
    fname_or_handle: Any,
    separately: list[str] | None = None,
    sep_limit: int = SEPARATE_FROM,
    ignore: Any = frozenset(),
    pickle_protocol: int = PICKLE_PROTOCOL,
) -> None:
    """Save KeyedVectors of gensim's own class, all or nothing; the parameters are those of gensim's `save`."""
    options = separately, sep_limit, ignore
    target = name_of(fname_or_handle) if is_path(fname_or_handle) else ""
    if not target or not is_replaceable(target):
        vectors.save(target or fname_or_handle, *options, pickle_protocol)
        return
    note_saving(vectors, target, *options)
    with saving(target) as save:
        save.write(writer_of(vectors, ignore, pickle_protocol), separately, sep_limit)
        save.commit()


def write_word2vec_format(write: Callable[..., None], fname: Any, fvocab: Any, *args: Any, **kwargs: Any) -> None:
    """Have gensim write vectors and vocabulary to temporary names, and rename them when they are whole."""
    names = [None if path is None else name_of(path) for path in (fname, fvocab)]
    appends = inspect.signature(write).bind(*names, *args, **kwargs).arguments.get("append", False)
    if appends or not all(name is None or is_replaceable(name) for name in names):
        write(*names, *args, **kwargs)
        return
    # smart_open compresses by the end of the name, which temporary names keep.
    places = {name: os.path.realpath(name) for name in names if name is not None}
    temporary = {name: temporary_name(place) for name, place in places.items()}
    with naming(str(names[0])):
        try:
            write(*(name and temporary[name] for name in names), *args, **kwargs)
            for path in temporary.values():
                sync(path)
            for name in reversed(places):  # The vectors hold their words, too, and come last.
                os.replace(temporary[name], places[name])
        finally:
            for path in temporary.values():
                remove(path)
