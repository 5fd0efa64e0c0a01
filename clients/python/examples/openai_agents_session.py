"""An agent of the OpenAI Agents SDK with its conversation in HTM. A model that repeats stands in for a real one."""

import asyncio
import os
from typing import Any

from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

from htm_memory import AsyncHtm
from htm_memory.openai_agents import HtmSession


class Parrot(Model):
    """Says how many items it was given, and the last one."""

    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> ModelResponse:
        said = f"{len(input)} items; you said: {input[-1]['content']}"
        text = ResponseOutputText(type="output_text", text=said, annotations=[])
        message = ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[text])
        return ModelResponse(output=[message], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError


async def main() -> None:
    agent = Agent(name="ada", model=Parrot())
    async with AsyncHtm(os.environ.get("HTM_URL", "http://127.0.0.1:7480")) as htm:
        session = HtmSession("standup", htm, namespace="examples/openai")
        await session.clear_session()
        for text in ("Staging moved to port 5434.", "Which port is staging on?"):
            result = await Runner.run(agent, text, session=session, run_config=RunConfig(tracing_disabled=True))
            print(result.final_output)
        here = {"namespaces": ["examples/openai"]}
        found = await htm.recall.recall(query="where did staging move?", filter=here, limit=1)
        print("recalled:", found.hits[0].content)


asyncio.run(main())
