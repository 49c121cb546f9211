"""The page of the widget is the explorer's own, in one piece."""

import json
import re

from gensim_hilbert.explore.notebook.page import STATIC, whole_page


def test_the_page_has_all_modules_in_it_and_asks_for_nothing():
    page = whole_page()
    found = re.search(r'<script type="application/json" id="modules">([^<]*)</script>', page)
    modules = json.loads(found[1])
    assert modules == {path.name: path.read_text(encoding="utf-8") for path in STATIC.glob("*.js")}
    assert not re.search(r'(src|href)="(?!#|about:srcdoc")', page.replace(found[0], ""))
    assert "default-src 'none'" in page


def test_all_modules_are_imported_as_the_frame_expects():
    for path in STATIC.glob("*.js"):
        for line in re.findall(r"^import.*", path.read_text(encoding="utf-8"), re.MULTILINE):
            assert re.search(r'from "\./[\w-]+\.js";', line), (path, line)
