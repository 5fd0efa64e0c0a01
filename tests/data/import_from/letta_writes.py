"""Writes an agent with blocks, passages and messages through Letta's own models into a database: letta_writes.py URL

The tables are made from the models, and the rows are written by them. Vectors are padded as Letta's PassageManager does.
Letta's migrations, which its package does not have, give the messages their numbers by a sequence: so does this.
"""

import os
import sys
from datetime import datetime, timedelta, timezone

URL = sys.argv[1]
os.environ["LETTA_PG_URI"] = URL

import letta.orm as orm  # noqa: E402
import numpy as np  # noqa: E402
import psycopg  # noqa: E402
from letta.constants import MAX_EMBEDDING_DIM  # noqa: E402
from letta.orm.base import Base  # noqa: E402
from letta.schemas.embedding_config import EmbeddingConfig  # noqa: E402
from letta.schemas.letta_message_content import ReasoningContent, TextContent  # noqa: E402
from letta.system import get_heartbeat, package_user_message  # noqa: E402
from sqlalchemy import create_engine, text  # noqa: E402
from sqlalchemy.orm import Session  # noqa: E402

from vectors import DIMENSIONS, vector  # noqa: E402

EMBEDDING = EmbeddingConfig(
    embedding_endpoint_type="openai",
    embedding_endpoint="https://api.openai.com/v1",
    embedding_model="text-embedding-3-small",
    embedding_dim=DIMENSIONS,
)
NOON = datetime(2026, 3, 1, 12, tzinfo=timezone.utc)


def padded(words):
    numbers = np.array(vector(words))
    return np.pad(numbers, (0, MAX_EMBEDDING_DIM - numbers.shape[0]), mode="constant").tolist()


def call(tool, arguments):
    return {"id": f"call-{tool}", "type": "function", "function": {"name": tool, "arguments": arguments}}


def messages(common):
    """A talk in the default conversation, as agents of both generations keep it, and one in another conversation."""

    def message(number, role, content, conversation=None, **fields):
        parts = [it if not isinstance(it, str) else TextContent(text=it) for it in content]
        return orm.Message(
            id=f"message-{number}", role=role, content=parts, conversation_id=conversation, agent_id="agent-1",
            tool_calls=fields.pop("tool_calls", []), created_at=NOON + timedelta(seconds=number), **fields, **common,
        )

    return [
        message(1, "system", ["You are Ada."]),
        message(2, "user", [package_user_message("Which port is staging on?", "UTC")]),
        message(
            3, "assistant", ["She wants the port."],
            tool_calls=[call("send_message", '{"message": "Staging is on port 5433."}')],
        ),
        message(4, "tool", ['{"status": "OK"}'], name="send_message", tool_call_id="call-send_message"),
        message(5, "user", [get_heartbeat("UTC")]),
        message(6, "assistant", [], tool_calls=[call("archival_memory_insert", '{"content": "port 5433"}')]),
        message(7, "user", ["Do we use tabs?"], "conv-1", sender_id="identity-mara"),
        message(8, "assistant", [ReasoningContent(reasoning="A style.", is_native=True), "Tabs of four."], "conv-1"),
        message(9, "user", ["Forget this."], "conv-1", is_deleted=True),
    ]


def main():
    engine = create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(URL))
    with engine.begin() as connection:
        connection.execute(text("create extension if not exists vector"))
    Base.metadata.create_all(engine)
    with engine.begin() as connection:
        connection.execute(text("create sequence message_seq_id owned by messages.sequence_id"))
        connection.execute(
            text("alter table messages alter column sequence_id set default nextval('message_seq_id')")
        )
    with Session(engine) as session:
        session.add(orm.Organization(id="org-1", name="default_org", privileged_tools=False))
        session.flush()
        common = {"organization_id": "org-1"}
        session.add(orm.User(id="user-1", name="Mara", **common))
        session.add_all([
            orm.Block(id="block-1", label="human", value="Mara prefers tabs.", limit=5000, description="Who asks",
                      created_at=NOON, **common),
            orm.Block(id="block-2", label="persona", value="I am Ada.", limit=5000, created_at=NOON, **common),
            orm.Block(id="block-3", label="scratch", value="", limit=5000, created_at=NOON, **common),
            orm.Block(id="block-4", label="persona", value="A template.", limit=5000, is_template=True, **common),
        ])
        session.flush()
        session.add(orm.BlockHistory(id="block_hist-1", block_id="block-1", label="human", value="Mara.", limit=5000,
                                     sequence_number=1, created_at=NOON - timedelta(days=1), **common))
        agent = {"agent_type": "letta_v1_agent", "message_buffer_autoclear": False, "embedding_config": EMBEDDING}
        session.add(orm.Agent(id="agent-1", name="ada", enable_sleeptime=False, tool_rules=[], **agent, **common))
        session.add(orm.Agent(id="agent-2", name="bob", enable_sleeptime=False, tool_rules=[], **agent, **common))
        session.flush()
        for agent_id, block, label in [
            ("agent-1", "block-1", "human"), ("agent-2", "block-1", "human"), ("agent-1", "block-2", "persona"),
            ("agent-1", "block-3", "scratch"),
        ]:
            session.add(orm.BlocksAgents(agent_id=agent_id, block_id=block, block_label=label))
        session.add(orm.Archive(id="archive-1", name="ada's archive", embedding_config=EMBEDDING, **common))
        session.add(orm.Conversation(id="conv-1", agent_id="agent-1", summary="Style", **common))
        session.flush()
        session.add(orm.ArchivesAgents(agent_id="agent-1", archive_id="archive-1", is_owner=True))
        for number, words, fields in [
            (1, "The ledger closes at six.", {"tags": ["finance", "work hours"], "metadata_": {"rank": 3}}),
            (2, "Release night is Tuesday.", {"tags": None, "metadata_": {}}),
            (3, "A wrong line.", {"tags": None, "metadata_": {}, "is_deleted": True}),
        ]:
            session.add(orm.ArchivalPassage(
                id=f"passage-{number}", text=words, embedding=padded(words), embedding_config=EMBEDDING,
                archive_id="archive-1", created_at=NOON + timedelta(minutes=number), **fields, **common,
            ))
        # One was kept for a search by text alone.
        session.add(orm.ArchivalPassage(
            id="passage-4", text="No vector has this.", embedding=None, embedding_config=None, metadata_={},
            archive_id="archive-1", created_at=NOON + timedelta(minutes=4), **common,
        ))
        for message in messages(common):
            session.add(message)
            session.flush()
        session.commit()


main()
