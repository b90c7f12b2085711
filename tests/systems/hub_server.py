"""A hub of its own for the tests: what its client asks for a model, from this process's memory."""

from __future__ import annotations

import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple


class Kept(NamedTuple):
    """A repository at a commit."""

    repository: str
    commit: str


class Hub:
    """Serves files by repository and commit, and remembers what was asked."""

    def __init__(self) -> None:
        self.files: dict[Kept, dict[str, bytes]] = {}
        self.gated: set[str] = set()
        self.asked: list[str] = []
        handler = type("Handler", (_Handler,), {"hub": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.endpoint = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def keep(self, repository: str, commit: str, folder: Path, **more: bytes) -> None:
        """Keeps the files of a folder, and others by name."""
        files = {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}
        self.files[Kept(repository, commit)] = files | more

    def close(self) -> None:
        """Answers nobody any more."""
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body."""
        for (repository, commit), files in self.files.items():
            if repository not in path:
                continue
            if repository in self.gated:
                return 403, {"X-Error-Code": "GatedRepo"}, b"no"
            if f"/tree/{commit}" in path:
                rows = [
                    {"type": "file", "path": name, "size": len(body), "oid": _id(body)} for name, body in files.items()
                ]
                return 200, {"Content-Type": "application/json"}, json.dumps(rows).encode()
            name = path.partition(f"/resolve/{commit}/")[2]
            if name in files:
                return 200, {"ETag": f'"{_id(files[name])}"', "X-Repo-Commit": commit}, files[name]
        return 404, {}, b"no such thing"


def _id(body: bytes) -> str:
    return hashlib.sha1(body).hexdigest()


class _Handler(BaseHTTPRequestHandler):
    hub: Hub

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def _answer(self, *, with_body: bool) -> None:
        self.hub.asked.append(f"{self.command} {self.path}")
        status, headers, body = self.hub.answer(self.path)
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if with_body:
            self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        """Nothing is logged."""
