"""An agent of Pydantic AI whose memory is HTM. A function stands in for the model."""

import asyncio
import os

from pydantic_ai import Agent, ModelMessage, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai_harness.memory import Memory

from htm_memory import AsyncHtm
from htm_memory.pydantic_ai import HtmMemoryStore

NAMESPACE = "examples/pydantic-ai"


def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Writes the file with the tool that it is given, and then answers."""
    if len(messages) == 1:
        return ModelResponse([ToolCallPart("write_memory", {"file": "mara.md", "content": "Mara prefers tabs."})])
    return ModelResponse([TextPart("Noted.")])


async def main() -> None:
    async with AsyncHtm(os.environ.get("HTM_URL", "http://127.0.0.1:7480")) as htm:
        memory = Memory(store=HtmMemoryStore(htm, namespace=NAMESPACE))
        agent = Agent(FunctionModel(model), capabilities=[memory])
        print((await agent.run("Mara prefers tabs.")).output)
        found = await htm.recall.recall(query="tabs or spaces?", filter={"namespaces": [NAMESPACE]})
        print(f"recalled: {found.hits[0].content.splitlines()[0]}")


asyncio.run(main())
