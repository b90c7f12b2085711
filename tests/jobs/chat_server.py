"""A chat endpoint on this machine that answers as it is told to."""

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from analysis.benchmarks.query_prompts import CRITERIA


def written(user):
    """What a model writes for a candidate's prompt: its angle and the first words of the text."""
    angle = re.search(r"Ask for it by (\w+ \w+ \w+ \w+)", user).group(1)
    text = user.split("<text>\n")[1]
    return json.dumps({"query": f"{angle} {' '.join(text.split()[:4])}"}, ensure_ascii=False)


def judged(user):
    """What a verifier gives: the candidate that asks by use is the best."""
    return json.dumps(dict.fromkeys(CRITERIA, 5 if "what it is used" in user.split("<query>")[1] else 4))


def answered(body):
    user = body["messages"][1]["content"]
    text = judged(user) if "<query>" in user else written(user)
    return {"choices": [{"message": {"content": text}}], "usage": {"prompt_tokens": 100, "completion_tokens": 10}}


class ChatServer:
    def __init__(self):
        self.asked = []  # body and headers of each request
        self.plan = []  # answers to come: (status, headers, body)
        self.most = None  # requests answered before it falls silent
        self.go = threading.Event()  # ends the silence
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.asked.append((self.path, body, dict(self.headers)))
                if server.most is not None and len(server.asked) > server.most:
                    server.go.wait()
                status, headers, said = server.plan.pop(0) if server.plan else (200, {}, answered(body))
                content = said.encode() if isinstance(said, str) else json.dumps(said).encode()
                self.send_response(status)
                for name, value in {"Content-Length": str(len(content)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.http.handle_error = lambda *_: None  # who asked may have been killed
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()

    def close(self):
        self.go.set()
        self.http.shutdown()
        self.http.server_close()
