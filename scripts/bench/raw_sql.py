"""Raw SQL: the barest schema, by psycopg. What the others are compared with."""

import contextlib

import psycopg

from bench.data import ASKED_FOR, DIMENSIONS, user_of

SCHEMA = f"""
create extension vector;
create table memory (
    id bigint primary key, user_id text not null, content text not null, embedding halfvec({DIMENSIONS}) not null);
"""
HNSW = "create index memory_embedding_idx on memory using hnsw (embedding halfvec_cosine_ops)"
BY_USER = "create index memory_user_idx on memory (user_id)"


class Client:
    """A connection. `exact` compares every vector of the user, else the statement is the plain one."""

    def __init__(self, connection, workload, exact):
        self._connection, self._workload = connection, workload
        # The planner keeps from the index of vectors if the order is by an expression of the distance.
        order = "(embedding <=> %s::halfvec) + 0" if exact else "embedding <=> %s::halfvec"
        self._search = f"select id, content from memory where user_id = %s order by {order} limit {ASKED_FOR}"

    def write(self, number, user):
        text = self._workload.texts[number]
        row = (number, user, text, str(self._workload.embed(text)))
        self._connection.execute("insert into memory values (%s, %s, %s, %s)", row)

    def search(self, question):
        found = self._connection.execute(self._search, (question.user, str(self._workload.embed(question.text))))
        return [number for number, _ in found.fetchall()]


class RawSql:
    """A table with one index: of its vectors, or of its users."""

    def __init__(self, name, index, url, workload):
        self.name, self.url = name, url
        self._index, self._workload = index, workload
        with psycopg.connect(url) as connection:
            connection.execute(SCHEMA)

    def load(self, numbers):
        """By COPY; the index is made afterwards, because that is faster than filling it."""
        with psycopg.connect(self.url) as connection:
            connection.execute("drop index if exists memory_embedding_idx, memory_user_idx")
            with connection.cursor().copy("copy memory from stdin") as copy:
                for number in numbers:
                    text = self._workload.texts[number]
                    copy.write_row((number, user_of(number), text, str(self._workload.embed(text))))
            connection.execute(self._index)

    @contextlib.contextmanager
    def client(self):
        with psycopg.connect(self.url, autocommit=True) as connection:
            yield Client(connection, self._workload, exact=self._index == BY_USER)
