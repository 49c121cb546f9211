"""Widgets outside of notebooks: what they send is kept, and a page in the browser can ask them."""

import json
import sys
from pathlib import Path

import pytest
from conftest import QuietHandler

HOST = (Path(__file__).parent / "host.html").read_bytes()


@pytest.fixture
def connections(monkeypatch):
    """The connections of the widgets that are made; each has what was sent over it as (message, buffers)."""
    comm = pytest.importorskip("comm", reason="anywidget is not installed: pip install 'gensim-hilbert[notebook]'")
    pytest.importorskip("anywidget", reason="anywidget is not installed: pip install 'gensim-hilbert[notebook]'")
    from comm.base_comm import BaseComm

    made = []

    class Connection(BaseComm):
        def publish_msg(self, msg_type, data=None, metadata=None, buffers=None, **keys):
            if not hasattr(self, "sent"):
                self.sent = []
                made.append(self)
            self.sent.append((data, buffers))

    monkeypatch.setattr(comm, "create_comm", Connection)
    monkeypatch.setattr(sys.modules["ipywidgets.widgets.widget"].comm, "create_comm", Connection)
    return made


def ask(widget, name, view="v", number=1, **query):
    """What a widget answers to a question of its page."""
    widget.comm.handle_msg({"buffers": [], "content": {"data": {"method": "custom", "content": {
        "view": view, "number": number, "name": name, "query": query}}}})  # fmt: skip
    data, buffers = widget.comm.sent[-1]
    return data["content"], json.loads(bytes(buffers[0]))


@pytest.fixture
def host(serve, connections):
    """A function that shows widgets on one page, and returns its address: a notebook without Jupyter."""

    def show(*widgets):
        class Handler(QuietHandler):
            def reply(self, body, kind):
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                if self.path == "/widgets.json":
                    traits = [
                        {name: widget.get_state()[name] for name in ("_esm", "page", "title", "state", "height")}
                        for widget in widgets
                    ]
                    self.reply(json.dumps(traits).encode(), "application/json")
                else:
                    self.reply(HOST, "text/html; charset=utf-8")

            def do_POST(self):
                content = json.loads(self.rfile.read(int(self.headers["content-length"])))
                message, answer = ask(
                    widgets[content.pop("widget")],
                    content["name"],
                    content["view"],
                    content["number"],
                    **content["query"],
                )
                self.reply(json.dumps([message, answer]).encode(), "application/json")

        return f"http://127.0.0.1:{serve(Handler).server_address[1]}/"

    return show
