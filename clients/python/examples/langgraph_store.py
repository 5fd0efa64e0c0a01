"""A graph of LangGraph with its long-term memory in HTM. Signs of the letters stand in for an embedder."""

import os
from collections import Counter
from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime

from htm_memory import Htm
from htm_memory.langgraph import HtmStore


class State(TypedDict):
    said: str
    answer: str


def embed(texts: list[str]) -> list[list[float]]:
    """How often each pair of letters occurs, in 64 places."""
    vectors = []
    for text in texts:
        pairs = Counter(zip(text.lower(), text.lower()[1:], strict=False))
        places = [0.0] * 64
        for (first, second), times in pairs.items():
            places[(31 * ord(first) + ord(second)) % 64] += times
        vectors.append(places)
    return vectors


def answer(state: State, runtime: Runtime) -> dict[str, str]:
    notes = ("examples", "notes")
    if state["said"].endswith("?"):
        [best] = runtime.store.search(notes, query=state["said"], limit=1)
        return {"answer": f"known: {best.value['text']}"}
    runtime.store.put(notes, state["said"], {"text": state["said"]})
    return {"answer": f"noted: {state['said']}"}


with Htm(os.environ.get("HTM_URL", "http://127.0.0.1:7480")) as htm:
    store = HtmStore(htm, index={"dims": 64, "embed": embed, "fields": ["text"]})
    builder = StateGraph(State)
    builder.add_node("answer", answer)
    builder.add_edge(START, "answer")
    builder.add_edge("answer", END)
    graph = builder.compile(store=store)
    for said in ("Staging moved to port 5434.", "Mara prefers tabs.", "Which port did staging move to?"):
        print(graph.invoke({"said": said})["answer"])
