"""Compares what HTM's store for LangGraph finds after an import with LangGraph's own: langgraph_compares.py HTM POSTGRES"""

import sys

from htm_memory import Htm
from htm_memory.langgraph import HtmStore
from langgraph.store.postgres import PostgresStore

from vectors import DIMENSIONS, vector

INDEX = {"dims": DIMENSIONS, "embed": lambda texts: [vector(text) for text in texts], "fields": ["text"]}
# HTM keeps vectors as halves.
NEAR = 2e-3


def fields(item):
    return item.namespace, item.key, item.value, item.created_at, item.updated_at


def main():
    htm_url, postgres_url = sys.argv[1:]
    with Htm(htm_url) as htm, PostgresStore.from_conn_string(postgres_url, index=INDEX) as theirs:
        ours = HtmStore(htm, index=INDEX)
        namespaces = theirs.list_namespaces(limit=100)
        assert sorted(ours.list_namespaces(limit=100)) == sorted(namespaces) and namespaces
        items = 0
        for namespace in namespaces:
            for item in theirs.search(namespace, limit=100):
                found = ours.get(namespace, item.key)
                assert found and fields(found) == fields(item), (item, found)
                items += 1
            for query in ("tabs of four", "which port is staging on", "night build"):
                expected = theirs.search(namespace, query=query, limit=2)
                found = ours.search(namespace, query=query, limit=2)
                scored = [(it.key, it.score) for it in expected if it.score is not None]
                for (key, score), it in zip(scored, found):
                    assert it.key == key and abs(it.score - score) < NEAR, (query, expected, found)
        [ranked] = ours.search(("users",), filter={"rank": {"$gte": 4}})
        assert ranked.key == "style"
        # An item that came is replaced as one that was put.
        ours.put(("shared",), "both", {"text": "Another."})
        assert ours.get(("shared",), "both").value == {"text": "Another."}
        assert [it.key for it in ours.search(("shared",), query="night build", limit=10)].count("both") == 1
        print(items)


main()
