"""A server on this machine that takes and gives JSON, and answers as it is told to."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class JsonServer:
    """Answers what ``answered`` makes of a request's body, unless something else is planned."""

    def __init__(self, answered):
        self.asked = []  # path, body and headers of each request
        self.plan = []  # answers to come: (status, headers, body), or a function of the handler
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                server.asked.append((self.path, body, dict(self.headers)))
                planned = server.plan.pop(0) if server.plan else (200, {}, answered(body))
                if callable(planned):
                    planned(self)
                    return
                status, headers, said = planned
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
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"
        threading.Thread(target=self.http.serve_forever, args=(0.02,), daemon=True).start()

    def close(self):
        self.http.shutdown()
        self.http.server_close()
