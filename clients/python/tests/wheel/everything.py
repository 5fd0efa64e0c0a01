"""What `pip install htm-memory` brings is enough to remember and recall by meaning. The installed package runs it."""

import subprocess
from pathlib import Path

from htm_memory import Memory
from htm_memory.private import program

for name in ("htm", "embed-worker", "tag-worker", "learn-worker"):
    found = program(name)
    assert found.parent.name == "bin", found
    assert "Usage" in subprocess.run([found, "--help"], check=True, capture_output=True, text=True).stdout

model = next(Path(found.parent.parent).glob("lib*/python3*/site-packages/htm_memory_models/*/model.safetensors"))
assert model.stat().st_size > 50_000_000, model

with Memory() as memory:
    memory.remember("The ferry to Kos leaves at seven in the morning.", wait="embed")
    memory.remember("The borrow checker rejects two aliases that write.", wait="embed")
    # No word of the question is in the memory.
    hit = memory.recall("When does our boat depart?", limit=1, strategy="vector")[0]
    assert "ferry" in hit.content, hit
    assert hit.scores.similarity and hit.scores.similarity > 0.3, hit.scores
print("everything is there")
