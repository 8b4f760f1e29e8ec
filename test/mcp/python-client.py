"""Connects with the Python SDK: registers, prints the address for the person, waits for the code, and calls tools."""

import asyncio
import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlparse

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata

url, mode, scope = sys.argv[1:4]


class Memory:
    tokens = client = None

    async def get_tokens(self):
        return self.tokens

    async def set_tokens(self, tokens):
        self.tokens = tokens

    async def get_client_info(self):
        return self.client

    async def set_client_info(self, client):
        self.client = client


class Callback(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.answer = {key: values[0] for key, values in parse_qs(urlparse(self.path).query).items()}
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Callback)
server.answer = None


async def show(address):
    print("open", address, flush=True)


async def code():
    while server.answer is None or "code" not in server.answer:
        await asyncio.to_thread(server.handle_request)
    answer = server.answer
    return AuthorizationCodeResult(code=answer["code"], state=answer.get("state"), iss=answer.get("iss"))


async def main():
    metadata = OAuthClientMetadata(
        client_name="Python SDK",
        redirect_uris=[f"http://127.0.0.1:{server.server_port}/callback"],
        scope=scope,
    )
    provider = OAuthClientProvider(url, metadata, Memory(), show, code)
    async with httpx2.AsyncClient(auth=provider, timeout=60) as http:
        async with Client(streamable_http_client(url, http_client=http), mode=mode) as client:
            names = []
            cursor = None
            while True:
                page = await client.list_tools(cursor=cursor)
                names += [tool.name for tool in page.tools]
                cursor = page.next_cursor
                if not cursor:
                    break
            made = await client.call_tool("links_create", {"destination": "https://example.com/python"})
            told = made.structured_content["link"]
            listed = await client.call_tool("links_list", {})
            print(
                "done",
                json.dumps(
                    {
                        "tools": len(names),
                        "version": getattr(client, "protocol_version", None),
                        "made": told["shortlink"],
                        "listed": len(listed.structured_content["links"]),
                    }
                ),
                flush=True,
            )


asyncio.run(main())
