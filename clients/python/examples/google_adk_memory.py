"""The memory of Google's Agent Development Kit in HTM. The events stand in for those of a model."""

import asyncio
import os

from google.adk.events import Event
from google.adk.sessions import InMemorySessionService
from google.genai import types

from htm_memory import AsyncHtm
from htm_memory.google_adk import HtmMemoryService


async def main() -> None:
    sessions = InMemorySessionService()
    async with AsyncHtm(os.environ.get("HTM_URL", "http://127.0.0.1:7480")) as htm:
        memory = HtmMemoryService(htm, namespace="examples/google-adk")
        session = await sessions.create_session(app_name="atlas", user_id="mara", session_id="standup")
        for author, text in (("user", "Staging moved to port 5434."), ("ada", "Noted.")):
            content = types.Content(role="user" if author == "user" else "model", parts=[types.Part(text=text)])
            await sessions.append_event(session, Event(author=author, content=content))
        await memory.add_session_to_memory(session)
        found = await memory.search_memory(app_name="atlas", user_id="mara", query="which port is staging on?")
        print(f"{found.memories[0].author}: {found.memories[0].content.parts[0].text}")


asyncio.run(main())
