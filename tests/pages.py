"""Reports, read as XML, and models for them."""

import copy
import re
import xml.etree.ElementTree as ET


class Page:
    """A page that is read as XML, which is stricter than HTML."""

    def __init__(self, path):
        self.source = path.read_text(encoding="utf-8")
        self.root = ET.fromstring(self.source)
        self.sections = {part.get("id"): part for part in self.root.iter("section")}

    def title(self, name):
        return text_of(self.sections[name].find("h2"))

    def rows(self, name):
        return [[text_of(cell) for cell in row] for row in self.sections[name].iter("tr")]


def changed(model, **attributes):
    """A copy of a model with something else in it."""
    other = copy.copy(model)
    vars(other).update(vars(model) | attributes)  # a copy lacks its counts, as a pickle does
    return other


def text_of(element):
    """Its text, with a hyphen for a minus."""
    return "".join(element.itertext()).replace("\u2212", "-")


def numbers(text):
    """The numbers that stand in a text."""
    return [float(found.replace(",", "")) for found in re.findall(r"-?\d[\d,]*\.?\d*", text)]
