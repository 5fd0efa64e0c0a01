"""A client by the official Python SDK of the former generation: `client_1.py MODE URL` or `client_1.py MODE COMMAND
[ARGUMENT…]`. Prints what it saw as JSON."""

import asyncio
import json
import os
import sys
from contextlib import asynccontextmanager

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client


@asynccontextmanager
async def connected(command, arguments):
    if command.startswith("http"):
        async with streamable_http_client(command) as (read, write, _):
            yield read, write
    else:
        server = StdioServerParameters(command=command, args=list(arguments), env=dict(os.environ))
        async with stdio_client(server) as (read, write):
            yield read, write


async def main(_mode, command, *arguments):
    async with connected(command, arguments) as (read, write), ClientSession(read, write) as client:
        begun = await client.initialize()
        tools = await client.list_tools()
        text = "The ledger runs on PostgreSQL 17.2."
        remembered = await client.call_tool("remember", {"text": text, "tags": ["database:postgresql"]})
        recalled = await client.call_tool("recall", {"query": "which database has the ledger?"})
        refused = await client.call_tool("recall", {"qurey": "ledger"})
        resource = await client.read_resource("htm://memories/recent")
        prompt = await client.get_prompt("what_do_we_know", {"topic": "the ledger"})
        print(json.dumps({
            "version": begun.protocolVersion,
            "tools": [tool.name for tool in tools.tools],
            "remembered": remembered.structuredContent,
            "recalled": recalled.content[0].text,
            "refused": [refused.isError, refused.content[0].text],
            "resource": json.loads(resource.contents[0].text),
            "prompt": prompt.messages[0].content.text,
        }))


asyncio.run(main(*sys.argv[1:]))
