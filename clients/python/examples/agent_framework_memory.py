"""An agent of Microsoft's Agent Framework whose memory is HTM. A stub stands in for the model."""

import asyncio
import os

from agent_framework import Agent, BaseChatClient, ChatResponse, Message

from htm_memory import AsyncHtm
from htm_memory.agent_framework import HtmContextProvider


class Stub(BaseChatClient):
    """Answers with the best memory in its context."""

    async def _inner_get_response(self, *, messages, stream, options, **kwargs):
        found = [line for it in messages for line in it.text.splitlines() if line.startswith("- ")]
        answer = f"I know: {found[0].removeprefix('- ')}" if found else "Noted."
        return ChatResponse(messages=[Message("assistant", [answer])])


async def main() -> None:
    async with AsyncHtm(os.environ.get("HTM_URL", "http://127.0.0.1:7480")) as htm:
        memory = HtmContextProvider(htm, namespace="examples/agent-framework")
        agent = Agent(Stub(), context_providers=[memory])
        await agent.run("Staging moved to port 5434.", session=agent.create_session())
        print("agent:", (await agent.run("Which port is staging on?", session=agent.create_session())).text)


asyncio.run(main())
