"""Dumps of Wikipedia give the articles that gensim's WikiCorpus gives."""

import bz2

import pytest
from gensim.corpora.wikicorpus import WikiCorpus, filter_wiki, tokenize
from gensim.test.utils import datapath
from helpers import assert_same_counts, count

from gensim_hilbert import PairCounts
from gensim_hilbert.corpus import wikipedia
from gensim_hilbert.corpus.rows import TableError
from gensim_hilbert.corpus.sources import as_corpus

DUMP = datapath("enwiki-latest-pages-articles1.xml-p000000010p000030302-shortened.bz2")
SITE = b'<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/"><siteinfo><sitename>W</sitename></siteinfo>\n'


def page(title: str, markup: str, namespace: int = 0) -> bytes:
    return (
        f"<page><title>{title}</title><ns>{namespace}</ns><id>1</id><revision><text>{markup}</text></revision></page>\n"
    ).encode()


def text_of(path) -> str:
    return b"".join(block.data for block in as_corpus(path).blocks(streams=True)).decode()


@pytest.mark.parametrize("name", [pytest.param(DUMP, marks=pytest.mark.slow), datapath("enwiki-table-markup.xml.bz2")])
def test_the_words_are_those_of_gensims_corpus(name):
    theirs = [word for words in WikiCorpus(name, processes=1, dictionary={}).get_texts() for word in words]
    assert theirs
    assert tokenize(text_of(name)) == theirs


def test_which_pages_are_articles(tmp_path, monkeypatch):
    """However small the pieces are in which a dump is parsed."""
    long, short = "'''Word''' of [[an article|the text]] &amp; more\n" * 20, "too short"
    pages = [page("One", long), page("Two", short), page("Talk:Three", long, 1), page("File:Four", long)]
    path = tmp_path / "dump.xml.bz2"
    path.write_bytes(bz2.compress(SITE + b"".join(pages) + page("Five", long) + b"</mediawiki>\n"))
    expected = filter_wiki(long.replace("&amp;", "&")) + "\n"
    for size in (1, 100, 1 << 20):
        monkeypatch.setattr(wikipedia, "PIECE_BYTES", size)
        assert text_of(path) == 2 * expected


def test_counts_are_those_of_the_text(tmp_path, monkeypatch, set_block_bytes):
    name = datapath("enwiki-table-markup.xml.bz2")
    lines = tmp_path / "text.txt"
    lines.write_text(text_of(name))
    set_block_bytes(500)
    assert_same_counts(count(name), count(lines))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "it does not end with </mediawiki>"),
        (b"<html><page>no</page></html>", "not recognized as MediaWiki"),
        (SITE + page("One", "cut off")[:-30], "it does not end with </mediawiki>"),
        (SITE + b"<page><oops></page></mediawiki>", "mismatched tag"),
        (SITE + b"<page><title>A</title></page></mediawiki>", "NoneType"),
    ],
)
def test_what_is_no_dump(data, why, tmp_path, refused):
    path = tmp_path / "dump.xml"
    path.write_bytes(data)
    refused(TableError, rf"dump\.xml is not a dump of Wikipedia, or damaged: .*{why}", path)


def test_a_dump_has_no_columns(refused):
    refused(TableError, r"has no columns: leave out column= \('text'\)", DUMP, column="text")


def test_a_damaged_dump(tmp_path, refused):
    path = tmp_path / "dump.xml.bz2"
    path.write_bytes(bz2.compress(SITE + page("One", "word " * 100) + b"</mediawiki>")[:-20])
    refused(OSError, r"dump\.xml\.bz2 cannot be read past byte", path)


def test_entities_do_not_blow_up(tmp_path):
    """What one file can do to memory is bounded by the parser."""
    levels = "".join(f'<!ENTITY x{k + 1} "{f"&x{k};" * 10}">' for k in range(12))
    bomb = f'<!DOCTYPE mediawiki [<!ENTITY x0 "{"word " * 10}">{levels}]>'.encode()
    path = tmp_path / "dump.xml"
    path.write_bytes(bomb + SITE + page("One", "&x12;") + b"</mediawiki>")
    with pytest.raises(TableError, match=r"damaged: .*amplification"):
        PairCounts.from_corpus(path, min_count=1)
