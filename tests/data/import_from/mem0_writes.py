"""Writes memories with mem0 itself into a database: mem0_writes.py URL FOLDER

The embedder is mem0's of OpenAI, which asks a server here. No language model is asked (`infer=False`). Prints the
memories as mem0 lists them, as JSON.
"""

import json
import logging
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

from vectors import DIMENSIONS, vector


class Embeddings(BaseHTTPRequestHandler):
    """The path /embeddings of OpenAI's API."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        data = [
            {"object": "embedding", "index": at, "embedding": vector(text)} for at, text in enumerate(asked["input"])
        ]
        body = json.dumps(
            {"object": "list", "model": asked["model"], "data": data, "usage": {"prompt_tokens": 0, "total_tokens": 0}}
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    url, folder = sys.argv[1:]
    server = HTTPServer(("127.0.0.1", 0), Embeddings)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    # It would report each use, and keep a file in the home directory.
    os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=folder)
    logging.getLogger("mem0").setLevel(logging.CRITICAL)
    from mem0 import Memory

    base = f"http://127.0.0.1:{server.server_port}"
    memory = Memory.from_config({
        "vector_store": {
            "provider": "pgvector",
            "config": {"connection_string": url, "embedding_model_dims": DIMENSIONS},
        },
        "llm": {"provider": "openai", "config": {"api_key": "none", "openai_base_url": base}},
        "embedder": {
            "provider": "openai",
            "config": {"api_key": "none", "openai_base_url": base, "model": "text-embedding-3-small"},
        },
        "history_db_path": f"{folder}/history.db",
    })
    memory.add("Mara prefers tabs.", user_id="mara", agent_id="ada", metadata={"category": "style", "rank": 3}, infer=False)
    talk = [
        {"role": "user", "content": "Which port is staging on?"},
        {"role": "assistant", "content": "Staging is on port 5433.", "name": "ada"},
    ]
    memory.add(talk, user_id="mara", run_id="run-7", infer=False)
    [added] = memory.add("The ledger closes at noon.", user_id="tom/2", infer=False)["results"]
    memory.update(added["id"], "The ledger closes at six.")
    [gone] = memory.add("A wrong line.", user_id="mara", infer=False)["results"]
    memory.delete(gone["id"])
    listed = [it for user in ("mara", "tom/2") for it in memory.get_all(filters={"user_id": user})["results"]]
    print(json.dumps(listed))


main()
