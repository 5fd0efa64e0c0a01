"""A client by the official Python SDK that gets its own token: `oauth.py URL ISSUER`. Prints what it saw as JSON."""

import asyncio
import json
import sys

import httpx2
from mcp import Client
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.streamable_http import streamable_http_client


class Storage:
    """Keeps a token in memory."""

    tokens = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return None

    async def set_client_info(self, client_info):
        pass


async def main(url, issuer):
    storage = Storage()
    auth = ClientCredentialsOAuthProvider(url, storage, "agent", "secret", issuer=issuer)
    async with httpx2.AsyncClient(auth=auth) as http, Client(streamable_http_client(url, http_client=http)) as client:
        remembered = await client.call_tool("remember", {"text": "The ledger runs on PostgreSQL 17.2."})
        tools = await client.list_tools()
        print(json.dumps({
            "tools": [tool.name for tool in tools.tools],
            "remembered": remembered.structured_content,
        }))


asyncio.run(main(*sys.argv[1:]))
