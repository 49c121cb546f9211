"""The Hugging Face Hub, through `huggingface_hub`, which is an extra."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from gensim_hilbert.counting.ownership import link_or_copy
from gensim_hilbert.files import temporary_name
from gensim_hilbert.pretrained.layout import CARD, COUNTS, FILES, MANIFEST, PHRASES

REPOSITORY = re.compile(r"\w[\w.-]*/\w[\w.-]*")  # user/name
PARTS_OF_COUNTS = f"{COUNTS}/*"  # as huggingface_hub matches names: with all that is below


def may_be_repository(name: str | os.PathLike[str]) -> bool:
    """Tell whether a name can be that of a repository on the Hub: one user, one name."""
    return isinstance(name, str) and REPOSITORY.fullmatch(name) is not None


def import_hub() -> Any:
    """Import huggingface_hub, or raise an error that tells what to install."""
    try:
        import huggingface_hub
    except ImportError as error:
        raise ImportError(
            f"the Hugging Face Hub needs huggingface_hub ({error}): pip install 'gensim-hilbert[hub]'"
        ) from error
    return huggingface_hub


def download(repo_id: str, *, counts: bool, **options: Any) -> Path:
    """Return a local folder with the files of a repository; they are kept in huggingface_hub's cache."""
    try:
        hub = import_hub()
    except ImportError as error:
        raise ImportError(f"there is no folder {repo_id} here, and {error}") from error
    from huggingface_hub.errors import LocalEntryNotFoundError, RepositoryNotFoundError

    patterns = [MANIFEST, *FILES, PHRASES, *([PARTS_OF_COUNTS] if counts else [])]
    try:
        folder = Path(hub.snapshot_download(repo_id, allow_patterns=patterns, **options))
    except (RepositoryNotFoundError, LocalEntryNotFoundError) as error:
        reason = " ".join(str(error).split())
        raise FileNotFoundError(
            f"there is no folder {repo_id} here, and no such model could be found on the Hugging Face Hub: {reason}"
        ) from error
    if counts:
        replace_links(folder / COUNTS)
    return folder


def replace_links(folder: Path) -> None:
    """Replace the symbolic links of huggingface_hub's cache by the files: a store of counts has nothing but files."""
    for path in folder.rglob("*"):
        if path.is_symlink():
            file = temporary_name(str(path))
            link_or_copy(os.path.realpath(path), file)
            os.replace(file, path)


def upload(
    hub: Any,
    folder: Path,
    repo_id: str,
    *,
    token: str | bool | None,
    private: bool | None,
    revision: str | None,
    message: str,
) -> str:
    """Upload a model folder in one commit, in place of the model that the repository may have; return its address."""
    api = hub.HfApi(token=token)
    api.create_repo(repo_id, private=private, exist_ok=True)
    if revision is not None:
        api.create_branch(repo_id, branch=revision, exist_ok=True)
    there = set(api.list_repo_files(repo_id, revision=revision))
    paths = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}
    if CARD in there:  # Somebody may have edited it.
        del paths[CARD]
    stale = sorted(name for name in there - set(paths) if name == PHRASES or name.startswith(f"{COUNTS}/"))
    # `upload_folder` may make several commits, between which a download would be a mixture.
    operations = [
        *(hub.CommitOperationAdd(path_in_repo=name, path_or_fileobj=path) for name, path in paths.items()),
        *(hub.CommitOperationDelete(path_in_repo=name) for name in stale),
    ]
    return str(api.create_commit(repo_id, operations, commit_message=message, revision=revision).commit_url)
