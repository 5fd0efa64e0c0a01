"""A client by the official Python SDK: `client.py MODE URL` or `client.py MODE COMMAND [ARGUMENT…]`. Prints what it saw
as JSON."""

import asyncio
import json
import os
import sys

from mcp import Client, StdioServerParameters


async def main(mode, command, *arguments):
    server = command
    if not command.startswith("http"):
        server = StdioServerParameters(command=command, args=list(arguments), env=dict(os.environ))
    async with Client(server, mode=mode) as client:
        tools = await client.list_tools()
        text = "The ledger runs on PostgreSQL 17.2."
        remembered = await client.call_tool("remember", {"text": text, "tags": ["database:postgresql"]})
        recalled = await client.call_tool("recall", {"query": "which database has the ledger?"})
        refused = await client.call_tool("recall", {"qurey": "ledger"})
        resource = await client.read_resource("htm://memories/recent")
        prompt = await client.get_prompt("what_do_we_know", {"topic": "the ledger"})
        print(json.dumps({
            "version": client.protocol_version,
            "tools": [tool.name for tool in tools.tools],
            "remembered": remembered.structured_content,
            "recalled": recalled.content[0].text,
            "refused": [refused.is_error, refused.content[0].text],
            "resource": json.loads(resource.contents[0].text),
            "prompt": prompt.messages[0].content.text,
        }))


asyncio.run(main(*sys.argv[1:]))
