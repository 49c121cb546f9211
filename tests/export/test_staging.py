"""Files appear whole or not at all: on disks, through links and pipes, in buckets."""

import gzip
import importlib.util
import json
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from consumers import CONSUMERS, FILES, random_vectors
from helpers import contents
from shell import run_python

from gensim_hilbert.export import FORMATS, export, load_vectors
from gensim_hilbert.files import Staging

LIMITED = """
import resource, sys
import numpy as np
from gensim.models import KeyedVectors
from gensim_hilbert.export import export
vectors = KeyedVectors(100)
vectors.add_vectors([f"w{k}" for k in range(500)], np.random.default_rng(1).normal(size=(500, 100)).astype(np.float32))
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
for format, path in zip(sys.argv[1::2], sys.argv[2::2]):
    try:
        export(vectors, path, format=format)
    except OSError as error:
        print(format, error.strerror, error.filename == path or error.filename.startswith(path + "/"))
assert "torch" not in sys.modules
"""


def test_a_failure_leaves_what_was_there_and_torch_is_not_imported(tmp_path):
    formats = [name for name in FORMATS if name != "parquet" or importlib.util.find_spec("pyarrow")]
    arguments = []
    for format in formats:
        for state in ("old", "new"):
            folder = tmp_path / state / format
            folder.mkdir(parents=True)
            if state == "old":
                export(random_vectors(["cat", "dog"]), folder / FILES[format], format=format)
            arguments += [format, str(folder / FILES[format])]
    before = contents(tmp_path)
    ran = run_python(LIMITED, *arguments)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.splitlines() == [f"{format} File too large True" for format in formats for _ in range(2)]
    assert contents(tmp_path) == before


def test_old_files_are_replaced_and_links_stay(format, tmp_path):
    path = tmp_path / FILES[format]
    export(random_vectors(["old"]), path, format=format)
    export(random_vectors(["cat", "dog"]), path, format=format)
    assert CONSUMERS[format](path)[0] == ["cat", "dog"]
    if path.is_file():
        path.rename(tmp_path / "elsewhere")
        path.symlink_to("elsewhere")
        export(random_vectors(["bird"]), path, format=format)
        assert path.is_symlink()
        assert CONSUMERS[format](path)[0] == ["bird"]
    assert not [left for left in tmp_path.rglob("*") if "partial" in left.name]


@pytest.mark.parametrize("format", ["model2vec", "projector"])
def test_a_folder_with_anything_else_in_it_is_not_replaced(format, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    export(random_vectors(["cat"]), folder, format=format)  # It was empty.
    before = contents(tmp_path)
    for name in ("letter", "vectors.bin"):
        (folder / name).write_text("dear")
        with pytest.raises(FileExistsError, match=rf"folder is not replaced, because {name} in it is no part"):
            export(random_vectors(["dog"]), folder, format=format)
        assert contents(tmp_path) == {**before, f"folder/{name}": b"dear"}
        (folder / name).unlink()
    (tmp_path / "link").symlink_to("folder")
    export(random_vectors(["dog"]), tmp_path / "link", format=format)
    assert (tmp_path / "link").is_symlink()
    assert CONSUMERS[format](folder)[0] == ["dog"]


@pytest.mark.parametrize(("format", "name"), [("model2vec", "modules.json"), ("projector", "metadata.tsv")])
def test_a_folder_in_the_place_of_a_file_is_not_replaced(format, name, tmp_path):
    folder = tmp_path / "folder"
    export(random_vectors(["cat"]), folder, format=format)
    (folder / name).unlink()
    (folder / name).mkdir()
    (folder / name / "letter").write_text("dear")
    before = contents(tmp_path)
    with pytest.raises(FileExistsError, match=rf"folder is not replaced, because {name} in it is no part"):
        export(random_vectors(["dog"]), folder, format=format)
    assert contents(tmp_path) == before


def test_tables_of_other_programs_are_not_replaced(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "vectors.tsv").write_text("name\tx\ty\n")
    (folder / "metadata.tsv").write_text("dear\n")
    before = contents(tmp_path)
    with pytest.raises(FileExistsError, match=r"its vectors\.tsv does not begin with numbers"):
        export(random_vectors(["dog"]), folder, format="projector")
    assert contents(tmp_path) == before


@pytest.mark.parametrize("text", ["dear", "[]", '{"letter": "dear"}'])
def test_words_of_other_programs_are_not_replaced(text, tmp_path):
    """Users name only NAME.npy."""
    (tmp_path / "v.words.json").write_text(text)
    with pytest.raises(FileExistsError, match=r"v\.words\.json is not replaced, because"):
        export(random_vectors(["dog"]), tmp_path / "v.npy")
    assert contents(tmp_path) == {"v.words.json": text.encode()}


def test_a_name_with_a_slash_at_its_end_is_no_file(tmp_path):
    (tmp_path / "file").write_text("dear")
    for name in ("file", "new"):
        with pytest.raises(IsADirectoryError, match=rf"{name}/"):
            export(random_vectors(["dog"]), f"{tmp_path}/{name}/", format="glove")
    assert contents(tmp_path) == {"file": b"dear"}


def test_configurations_of_other_programs_are_not_replaced(tmp_path):
    folder = tmp_path / "folder"
    export(random_vectors(["cat"]), folder, format="model2vec")
    for text in ('{"model_type": "bert"}', "[]", "{"):
        (folder / "config.json").write_text(text)
        before = contents(tmp_path)
        with pytest.raises(FileExistsError, match=r"its config\.json is not that of a static model"):
            export(random_vectors(["dog"]), folder, format="model2vec")
        assert contents(tmp_path) == before


def test_words_and_matrix_of_numpy_belong_together(tmp_path):
    """Between the two renames the words of both matrices are there; the checksum tells which to take."""
    path, words = tmp_path / "v.npy", tmp_path / "v.words.json"
    old, new = random_vectors(["cat", "dog"]), random_vectors(["one", "two"], seed=2)
    export(new, path)
    new_matrix, new_words = path.read_bytes(), json.loads(words.read_text())
    export(old, path)
    old_matrix, old_words = path.read_bytes(), json.loads(words.read_text())
    words.write_text(json.dumps({**old_words, "next": new_words}))
    for data, expected in ((old_matrix, old), (new_matrix, new)):
        path.write_bytes(data)
        read = load_vectors(path)
        assert read.index_to_key == expected.index_to_key
        np.testing.assert_array_equal(read.vectors, expected.vectors)
    export(old, path)  # over the remains of a process that was killed
    assert json.loads(words.read_text()) == old_words
    path.write_bytes(new_matrix)
    with pytest.raises(ValueError, match=r"v\.words\.json holds the words of another matrix"):
        load_vectors(path)
    words.write_text('{"words": ["by", "hand"]}')
    assert load_vectors(path).index_to_key == ["by", "hand"]


def test_the_name_of_a_link_says_how_to_compress(tmp_path):
    (tmp_path / "v.vec.gz").symlink_to("elsewhere")
    export(random_vectors(["cat"]), tmp_path / "v.vec.gz")
    assert gzip.decompress((tmp_path / "elsewhere").read_bytes()).startswith(b"1 3\ncat ")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_pipes_are_written_to_and_stay(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor() as pool:
        read = pool.submit((tmp_path / "pipe").read_bytes)
        export(random_vectors(["cat"], size=1), tmp_path / "pipe", format="glove")
    assert read.result().startswith(b"cat 0.3")
    assert (tmp_path / "pipe").is_fifo()


def test_buckets_are_written_to(s3, tmp_path):
    client, bucket = s3
    vectors = random_vectors(["cat", "dog"])
    export(vectors, f"s3://{bucket}/v.vec.gz", transport_params={"client": client})
    export(vectors, f"s3://{bucket}/folder/", format="model2vec", transport_params={"client": client})
    keys = {item["Key"] for item in client.list_objects_v2(Bucket=bucket)["Contents"]}
    assert keys == {"v.vec.gz"} | {
        f"folder/{name}" for name in ("config.json", "model.safetensors", "modules.json", "tokenizer.json")
    }
    for key in keys:
        (tmp_path / key).parent.mkdir(exist_ok=True)
        client.download_file(bucket, key, str(tmp_path / key))
    for path in (tmp_path / "v.vec.gz", tmp_path / "folder"):
        np.testing.assert_array_equal(load_vectors(path).vectors, vectors.vectors)


def test_nothing_appears_in_a_bucket_after_an_error(s3):
    client, bucket = s3

    def interrupted():
        with Staging({"client": client}) as staging, staging.create(f"s3://{bucket}/v.vec") as file:
            file.write(b"1 3\n")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert "Contents" not in client.list_objects_v2(Bucket=bucket)
