"""Puts items with LangGraph's own store into a database: langgraph_writes.py URL

Prints each item as the store gets it, as JSON.
"""

import json
import sys

from langgraph.store.postgres import PostgresStore

from vectors import DIMENSIONS, vector

INDEX = {"dims": DIMENSIONS, "embed": lambda texts: [vector(text) for text in texts], "fields": ["text"]}

ITEMS = [
    (("users", "mara"), "style", {"text": "Mara prefers tabs.", "rank": 3, "nested": {"deep": [1, 2.5, None]}}),
    (("users", "mara"), "port of staging", {"text": "Staging is on port 5433.", "rank": 1}),
    (("users", "t/m %"), "ledger", {"text": "The ledger closes at six ß📝.", "done": True}),
    (("shared",), "k" * 600, {"text": "A key that is no key of HTM."}),
    (("shared",), "large", {"text": "A large item.", "body": "word " * 20_000}),
]


def main():
    with PostgresStore.from_conn_string(sys.argv[1], index=INDEX) as store:
        store.setup()
        for namespace, key, value in ITEMS:
            store.put(namespace, key, value)
        # Two texts of one item, one without a vector, one that lives for a day.
        store.put(
            ("shared",), "both", {"title": "Release notes", "lines": ["night build", "ledger"]}, index=["title", "lines[*]"]
        )
        store.put(("shared",), "unseen", {"memory": "Nothing looks for it."}, index=False)
        store.put(("shared",), "daily", {"text": "Gone tomorrow."}, ttl=1440)
        # It was changed, and one was deleted.
        store.put(("users", "mara"), "style", {"text": "Mara prefers tabs of four.", "rank": 4})
        store.put(("shared",), "wrong", {"text": "A wrong item."})
        store.delete(("shared",), "wrong")
        items = store.search(("users",), limit=100) + store.search(("shared",), limit=100)
        print(json.dumps([
            {**item.dict(), "score": None} for item in sorted(items, key=lambda it: (it.namespace, it.key))
        ]))


main()
