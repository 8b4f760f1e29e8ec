"""Walks every task, prompt and resource with the Python SDK of the protocol. The token comes in MCP_TOKEN."""

import asyncio
import gzip
import html
import os
import re
import sys
import time
import urllib.parse
import urllib.request
from http.cookiejar import CookieJar

from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

BROWSER = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 "
    "(KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1"
)


def fill_in(entrypoint: str, values: list[str]) -> None:
    """Visits a link with a form as a phone would, and answers its questions in order."""
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()))
    browser.addheaders = [("User-Agent", BROWSER), ("Accept-Language", "en")]
    page = browser.open(entrypoint)
    text = page.read().decode()
    action = html.unescape(re.search(r'<form[^>]* action="([^"]+)"', text).group(1))
    names = list(dict.fromkeys(re.findall(r'name="(field-[^"]+)"', text)))
    body = urllib.parse.urlencode(dict(zip(names, values, strict=True))).encode()
    origin = "{0.scheme}://{0.netloc}".format(urllib.parse.urlsplit(page.url))
    answer = urllib.request.Request(urllib.parse.urljoin(page.url, action), body, {"Origin": origin})
    assert browser.open(answer).status == 200


async def walk(client: Client, round_name: str) -> list[tuple[str, float, int]]:
    """Calls every task once and checks what it answers."""
    figures = []

    async def call(name: str, /, **given):
        begun = time.perf_counter()
        result = await client.call_tool(name, given)
        assert not result.is_error, result
        text = result.content[0].text
        assert len(text.encode()) <= 4096, (name, len(text))
        figures.append((name, (time.perf_counter() - begun) * 1000, len(text)))
        images = [block for block in result.content if block.type == "image"]
        return result.structured_content, text, images

    tools = (await client.list_tools()).tools
    assert len(tools) == 12, [tool.name for tool in tools]

    key = f"{round_name}-menu"
    made, _, images = await call(
        "create_link_with_qr",
        destination="https://example.com/menu",
        name=f"Menu {round_name}",
        look={"foreground": "#004d40"},
        idempotencyKey=key,
    )
    assert made["readability"]["readable"] and len(images) == 1, made
    again, _, _ = await call(
        "create_link_with_qr",
        destination="https://example.com/menu",
        name=f"Menu {round_name}",
        look={"foreground": "#004d40"},
        idempotencyKey=key,
    )
    assert again["link"]["id"] == made["link"]["id"]

    form, _, images = await call(
        "create_form_link",
        title=f"Survey {round_name}",
        questions=[
            {"label": "Your e-mail address", "type": "email", "required": True},
            {"label": "Which plan?", "type": "one_of", "choices": ["small", "large"]},
        ],
        thankYou="Thank you",
    )
    assert len(images) == 1
    fill_in(form["link"]["entrypoint"], [f"ada-{round_name.lower()}@example.com", "large"])

    # A visit is stored within seconds.
    for _ in range(60):
        answers, text, _ = await call("read_form_answers", link=form["link"]["id"])
        if answers["forms"]:
            break
        await asyncio.sleep(0.5)
    assert answers["choices"][0]["answer"]["untrusted"] == "large", answers
    assert "⟦large⟧" in text
    visitor, _, _ = await call("look_up_visitor", who=f"ada-{round_name.lower()}@example.com")
    assert visitor["journeys"][0]["completed"], visitor
    explained, _, _ = await call("explain_visits", link=form["link"]["id"], days=7)
    assert explained["period"]["counted"] == 1, explained
    _, _, charts = await call("make_report", link=form["link"]["id"])
    assert len(charts) == 3

    edited, _, _ = await call(
        "edit_workflow",
        link=f"Menu {round_name}",
        changes=[
            {
                "add": {
                    "action": "EVENT_ACTION_MESSAGE_PAGE",
                    "payload": {
                        "messagePage": {
                            "title": "Welcome",
                            "navigationType": "MESSAGE_PAGE_NAVIGATION_TYPE_BUTTON",
                        }
                    },
                    "before": (await call("edit_workflow", link=f"Menu {round_name}"))[0]["workflow"]["steps"][1]["id"],
                }
            }
        ],
    )
    assert edited["triedVisits"][0]["end"] == "REDIRECT", edited
    organized, _, _ = await call("organize_links", links=[f"Menu {round_name}"], addTags=[round_name], directory="Menus")
    assert organized["changed"] == 1
    moved, _, _ = await call("redirect_links", tag=round_name, destination="https://example.com/winter")
    assert moved["links"][0]["changed"] == 1
    found, _, _ = await call("find_links", tags=[round_name])
    assert found["total"] == 1
    checked, _, images = await call(
        "check_qr_code", link=made["link"]["entrypoint"], look={"foreground": "#1a237e"}
    )
    assert checked["readability"]["readable"] and len(images) == 1, checked

    for _ in range(60):
        file, _, _ = await call("export_visits", link=form["link"]["id"], format="json", idempotencyKey=f"{round_name}-file")
        if file["status"] == "READY":
            break
        await asyncio.sleep(1)
    with urllib.request.urlopen(file["downloadUrl"]) as answer:
        assert len(gzip.decompress(answer.read()).splitlines()) == 1

    begun = time.perf_counter()
    prompts = (await client.list_prompts()).prompts
    assert len(prompts) == 5
    prompt = await client.get_prompt("improve_workflow", {"link": f"Menu {round_name}"})
    assert "MESSAGE_PAGE" in prompt.messages[0].content.text
    assert [resource.uri for resource in (await client.list_resources()).resources] == ["signpost://api"]
    for uri in ("signpost://api", "signpost://api/links", f"signpost://links/{made['link']['id']}/workflow"):
        assert (await client.read_resource(uri)).contents[0].text
    figures.append(("prompts and resources", (time.perf_counter() - begun) * 1000, 0))
    return figures


async def main() -> None:
    (address,) = sys.argv[1:]
    headers = {"Authorization": f"Bearer {os.environ['MCP_TOKEN']}"}
    for mode in ("legacy", "2026-07-28"):
        async with create_mcp_http_client(headers=headers) as http_client:
            transport = streamable_http_client(address, http_client=http_client, terminate_on_close=False)
            async with Client(transport, mode=mode) as client:
                print(f"revision {client.protocol_version}")
                for name, milliseconds, characters in await walk(client, f"R{mode[:4]}"):
                    print(f"  {name:24} {milliseconds:8.0f} ms {characters:6} characters")


asyncio.run(main())
