"""Refuses `response_format` as servers do that have none, and passes everything else on.

    python3 without_schema.py BASE_URL FILE

listens on loopback and writes its own base URL to FILE.
"""

import http.server
import json
import pathlib
import sys
import urllib.request

MODEL, FILE = sys.argv[1].rstrip("/"), pathlib.Path(sys.argv[2])
# The longest answer, in tokens: a small model that is held to no schema may never end.
MAX_TOKENS = 400


class Between(http.server.BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        if body.get("response_format"):
            self.answer(400, b'{"error":{"message":"This response_format type is unavailable now"}}')
            return
        body["max_tokens"] = MAX_TOKENS
        path = self.path.removeprefix("/v1")
        headers = {"content-type": "application/json"}
        with urllib.request.urlopen(urllib.request.Request(MODEL + path, json.dumps(body).encode(), headers)) as answer:
            self.answer(answer.status, answer.read())

    def answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Between)
FILE.with_suffix(".new").write_text(f"http://127.0.0.1:{server.server_port}/v1\n")
FILE.with_suffix(".new").rename(FILE)
server.serve_forever()
