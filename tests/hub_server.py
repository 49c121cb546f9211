"""A small Hugging Face Hub on loopback: the part of its API that huggingface_hub calls for models."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from http.server import BaseHTTPRequestHandler
from urllib.parse import unquote, urlsplit

TOKEN = "hf_secret"  # of nobody


class Hub:
    """Repositories with their branches, each of which is a list of commits: dicts of files."""

    def __init__(self, large: bool = False):
        self.large = large  # whether .safetensors go to the storage for large files
        self.repos: dict[str, dict[str, list[dict[str, bytes]]]] = {}
        self.objects: dict[str, bytes] = {}
        self.requests: list[str] = []

    def files(self, repo: str, revision: str) -> tuple[str, dict[str, bytes]] | None:
        """(hash, files) of a branch or of a commit."""
        for branch, commits in self.repos.get(repo, {}).items():
            for files in reversed(commits):
                commit = self.hash_of(files)
                if revision in (branch, commit):
                    return commit, files
        return None

    @staticmethod
    def hash_of(files: dict[str, bytes]) -> str:
        return hashlib.sha1(repr(sorted(files.items())).encode()).hexdigest()


def oid_of(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


class HubHandler(BaseHTTPRequestHandler):
    """Answers as the Hub does; `server.hub` holds the repositories."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, value, status: int = 200, **headers: str) -> None:
        data = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"Content-Length": str(len(data)), **headers}.items():
            self.send_header(name.replace("_", "-"), text)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def refuse(self, status: int, code: str) -> None:
        self.answer({"error": code}, status, X_Error_Code=code, X_Error_Message=code)

    def do_any(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length) if length else b"".join(self.chunks())
        path = unquote(urlsplit(self.path).path)
        self.server.hub.requests.append(f"{self.command} {path}")
        for method, pattern, function in ROUTES:
            if method == self.command and (found := re.fullmatch(pattern, path)):
                if method == "POST" and self.headers.get("Authorization") != f"Bearer {TOKEN}":
                    return self.refuse(401, "Unauthorized")
                return function(self, body, *found.groups())
        return self.refuse(404, "EntryNotFound")

    do_GET = do_HEAD = do_POST = do_PUT = do_any

    def chunks(self):
        while self.headers.get("Transfer-Encoding") == "chunked" and (size := int(self.rfile.readline(), 16)):
            yield self.rfile.read(size)
            self.rfile.readline()

    # ------------------------------------------------------------------ uploading

    def create_repo(self, body: bytes) -> None:
        asked = json.loads(body)
        name = f"{asked['organization']}/{asked['name']}"
        status = 409 if name in self.server.hub.repos else 200
        self.server.hub.repos.setdefault(name, {"main": [{".gitattributes": b"*.safetensors filter=lfs\n"}]})
        self.answer({"url": f"http://{self.headers['Host']}/{name}", "name": name}, status)

    def create_branch(self, body: bytes, repo: str, branch: str) -> None:
        branches = self.server.hub.repos[repo]
        status = 409 if branch in branches else 201
        branches.setdefault(branch, [*branches["main"]])
        self.answer({}, status)

    def validate_yaml(self, body: bytes) -> None:
        self.answer({"errors": [], "warnings": []})

    def preupload(self, body: bytes, repo: str, revision: str) -> None:
        large = self.server.hub.large
        modes = [
            {
                "path": file["path"],
                "uploadMode": "lfs" if large and file["path"].endswith(".safetensors") else "regular",
                "shouldIgnore": False,
            }
            for file in json.loads(body)["files"]
        ]
        self.answer({"files": modes})

    def batch(self, body: bytes, repo: str) -> None:
        here = f"http://{self.headers['Host']}/objects"
        objects = [
            {"oid": each["oid"], "size": each["size"], "actions": {"upload": {"href": f"{here}/{each['oid']}"}}}
            for each in json.loads(body)["objects"]
        ]
        self.answer({"transfer": "basic", "objects": objects})

    def put_object(self, body: bytes, oid: str) -> None:
        assert hashlib.sha256(body).hexdigest() == oid
        self.server.hub.objects[oid] = body
        self.answer({})

    def commit(self, body: bytes, repo: str, revision: str) -> None:
        commits = self.server.hub.repos[repo][revision]
        files = dict(commits[-1])
        for line in body.splitlines():
            entry = json.loads(line)
            value = entry["value"]
            if entry["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif entry["key"] == "lfsFile":
                files[value["path"]] = self.server.hub.objects[value["oid"]]
            elif entry["key"] == "deletedFile":
                del files[value["path"]]
        commits.append(files)
        commit = Hub.hash_of(files)
        url = f"http://{self.headers['Host']}/{repo}/commit/{commit}"
        self.answer({"success": True, "commitOid": commit, "commitUrl": url})

    # ------------------------------------------------------------------ downloading

    def found(self, repo: str, revision: str | None):
        if repo not in self.server.hub.repos:
            self.refuse(404, "RepoNotFound")
            return None
        found = self.server.hub.files(repo, revision or "main")
        if found is None:
            self.refuse(404, "RevisionNotFound")
        return found

    def info(self, body: bytes, repo: str, revision: str | None = None) -> None:
        if found := self.found(repo, revision):
            commit, files = found
            siblings = [{"rfilename": name} for name in files]
            self.answer(
                {"id": repo, "modelId": repo, "sha": commit, "private": False, "tags": [], "siblings": siblings}
            )

    def tree(self, body: bytes, repo: str, revision: str) -> None:
        if found := self.found(repo, revision):
            entries = [
                {"type": "file", "path": name, "oid": oid_of(data), "size": len(data)}
                for name, data in found[1].items()
            ]
            self.answer(entries)

    def resolve(self, body: bytes, repo: str, revision: str, name: str) -> None:
        if found := self.found(repo, revision):
            commit, files = found
            if name not in files:
                return self.answer(b"", 404, X_Error_Code="EntryNotFound", X_Repo_Commit=commit)
            data = files[name]
            self.answer(data, ETag=f'"{oid_of(data)}"', X_Repo_Commit=commit, Accept_Ranges="bytes")
        return None


REPO = r"([\w.-]+/[\w.-]+)"
ROUTES = [
    ("POST", "/api/repos/create", HubHandler.create_repo),
    ("POST", "/api/validate-yaml", HubHandler.validate_yaml),
    ("POST", f"/api/models/{REPO}/branch/(.+)", HubHandler.create_branch),
    ("POST", f"/api/models/{REPO}/preupload/(.+)", HubHandler.preupload),
    ("POST", f"/{REPO}.git/info/lfs/objects/batch", HubHandler.batch),
    ("PUT", "/objects/([0-9a-f]{64})", HubHandler.put_object),
    ("POST", f"/api/models/{REPO}/commit/(.+)", HubHandler.commit),
    ("GET", f"/api/models/{REPO}", HubHandler.info),
    ("GET", f"/api/models/{REPO}/revision/(.+)", HubHandler.info),
    ("GET", f"/api/models/{REPO}/tree/(.+)", HubHandler.tree),
    ("GET", f"/{REPO}/resolve/([^/]+)/(.+)", HubHandler.resolve),
    ("HEAD", f"/{REPO}/resolve/([^/]+)/(.+)", HubHandler.resolve),
]
