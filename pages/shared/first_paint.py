"""The style stands in the document itself: what a script puts on a page comes after the first text, and moves it."""

from __future__ import annotations

from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

STYLE = Path(__file__).with_name("style.css")
UNWANTED = (b"accept-encoding", b"if-none-match", b"if-modified-since", b"range")
"""A document is asked for whole and uncompressed: only so can something be put into it."""


class FirstPaint:
    """Puts name and style of the app into the document that a browser loads first; everything else passes as it is."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if not _asks_for_a_document(scope):
            await self.app(scope, receive, send)
            return
        asked = {**scope, "headers": [pair for pair in scope["headers"] if pair[0] not in UNWANTED]}
        await self.app(asked, receive, _Document(send))


class _Document:
    """Holds a document back until it is whole, and sends it with the style in it."""

    def __init__(self, send: Send) -> None:
        self.send = send
        self.start: Message | None = None
        self.body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start" and _is_document(message):
            self.start = message
        elif self.start is None or message["type"] != "http.response.body":
            await self.send(message)
        else:
            self.body += message.get("body", b"")
            if not message.get("more_body", False):
                await self._send_whole(self.start)

    async def _send_whole(self, start: Message) -> None:
        body = styled(self.body.decode()).encode()
        headers = MutableHeaders(raw=list(start["headers"]))
        headers["content-length"] = str(len(body))
        for name in ("etag", "last-modified"):
            if name in headers:
                del headers[name]
        await self.send({**start, "headers": headers.raw})
        await self.send({"type": "http.response.body", "body": body})


def _asks_for_a_document(scope: Scope) -> bool:
    if scope["type"] != "http" or scope["method"] != "GET":
        return False
    return "text/html" in Headers(scope=scope).get("accept", "")


def _is_document(start: Message) -> bool:
    return start["status"] == 200 and Headers(raw=start["headers"]).get("content-type", "").startswith("text/html")


def styled(document: str) -> str:
    """A document with the app's name for its title until a page has one, and the style sheet at its end.

    Streamlit adds its own styles to the head; what comes after them holds.
    """
    sheet = STYLE.read_text(encoding="utf-8")
    named = document.replace("<title>Streamlit</title>", "<title>Babelscope</title>", 1)
    return named.replace("</body>", f"<style>\n{sheet}</style>\n</body>", 1)
