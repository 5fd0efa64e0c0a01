"""A memory of LlamaIndex whose older messages are in HTM. No model is asked."""

import asyncio
import os

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.memory import Memory

from htm_memory import AsyncHtm
from htm_memory.llama_index import HtmMemoryBlock


async def main() -> None:
    async with AsyncHtm(os.environ.get("HTM_URL", "http://127.0.0.1:7480")) as htm:
        block = HtmMemoryBlock(htm=htm, namespace="examples/llama-index", limit=1)
        memory = Memory.from_defaults(
            session_id="standup",
            memory_blocks=[block],
            # So small that all but the latest messages leave it.
            token_limit=60,
            chat_history_token_ratio=0.5,
            token_flush_size=10,
            tokenizer_fn=str.split,
        )
        await memory.aput(ChatMessage(role="user", content="Staging moved to port 5434."))
        for n in range(12):
            await memory.aput(ChatMessage(role="user", content=f"Small talk {n} about the weather of the day."))
            await memory.aput(ChatMessage(role="assistant", content="It rains again."))
        print("recalled:", await block.aget([ChatMessage(role="user", content="Which port is staging on?")]))


asyncio.run(main())
