"""CrewAI's memory in HTM. Counts of letters stand in for an embedder, and no language model is asked."""

import math
import os
from typing import Any

# CrewAI reports nothing and asks nothing. It reads this when it is imported.
os.environ.update(CREWAI_DISABLE_TELEMETRY="true", OTEL_SDK_DISABLED="true", CREWAI_TRACING_ENABLED="false")

from crewai import BaseLLM, Memory
from crewai.events.utils.console_formatter import set_suppress_console_output

from htm_memory import Htm
from htm_memory.crewai import HtmStorage


class NoModel(BaseLLM):
    """Would choose the scope and the categories of what is remembered without them."""

    def call(self, messages: Any, *args: Any, **options: Any) -> str:
        raise RuntimeError("no language model is asked")


def embed(texts: list[str]) -> list[list[float]]:
    """How often each pair of letters occurs, in 64 places, with the length 1."""
    vectors = []
    for text in texts:
        places = [0.0] * 64
        for first, second in zip(text.lower(), text.lower()[1:], strict=False):
            places[(31 * ord(first) + ord(second)) % 64] += 1
        length = math.hypot(*places)
        vectors.append([times / length for times in places])
    return vectors


# CrewAI draws a panel for each act.
set_suppress_console_output(True)
with Htm(os.environ.get("HTM_URL", "http://127.0.0.1:7480")) as htm:
    memory = Memory(storage=HtmStorage(htm, namespace="examples/crewai"), embedder=embed, llm=NoModel(model="none"))
    memory.reset()
    memory.remember("Staging moved to port 5434.", scope="/operations", categories=["decision"], importance=0.9)
    memory.remember("The ledger needs 40 GB.", scope="/operations/capacity", categories=["fact"], importance=0.5)
    memory.remember("Mara prefers tabs.", scope="/people/mara", categories=["preference"], importance=0.7)
    print(memory.tree())
    [match] = memory.recall("Which port did staging move to?", limit=1)
    print(f"recalled: {match.record.content}")
    print(f"forgotten: {memory.forget(scope='/people')}")
    print(memory.list_scopes(), memory.list_categories())
    memory.close()
