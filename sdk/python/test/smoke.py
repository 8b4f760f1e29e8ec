"""Tests the built package on the service at SIGNPOST_URL, with SIGNPOST_TOKEN; ends with an error when a check fails."""

import os
import uuid
from collections.abc import Callable

import grpc
from signpost import Client, SignpostError, idempotency_key, items, pages
from signpost.v1.links_service_pb2 import (
    CreateLinkRequest,
    DeleteLinkRequest,
    GetLinkRequest,
    ListLinksRequest,
)


def main() -> None:
    tag = f"smoke-{uuid.uuid4()}"
    with Client(os.environ["SIGNPOST_URL"], os.environ["SIGNPOST_TOKEN"]) as client:
        create_and_page(client, tag)
        refuse(client)
        repeat(client, tag)
    print("python: created, paged, refused and repeated as expected")


def create_and_page(client: Client, tag: str) -> None:
    for name in ("one", "two", "three", "four", "five"):
        client.links.Create(CreateLinkRequest(destination="https://example.com/menu", name=name, tags=[tag]))

    request = ListLinksRequest(page_size=2, tags=[tag])
    sizes = [len(page.links) for page in pages(client.links.List, request)]
    assert sizes == [2, 2, 1], sizes
    links = list(items(client.links.List, request, lambda page: page.links))
    names = [link.name for link in links]
    assert names == ["five", "four", "three", "two", "one"], names
    for link in links:
        client.links.Delete(DeleteLinkRequest(id=link.id))


def refuse(client: Client) -> None:
    missing = failure(lambda: client.links.Get(GetLinkRequest(id="00000000-0000-7000-8000-000000000000")))
    assert missing.code is grpc.StatusCode.NOT_FOUND, missing
    assert missing.reason == "NOT_FOUND" and missing.request_id, missing

    refused = failure(lambda: client.links.Create(CreateLinkRequest()))
    assert refused.code is grpc.StatusCode.INVALID_ARGUMENT, refused
    assert [each.field for each in refused.field_violations] == ["destination"], refused.field_violations

    with Client(os.environ["SIGNPOST_URL"], "wrong") as stranger:
        unknown = failure(lambda: stranger.links.List(ListLinksRequest()))
    assert unknown.code is grpc.StatusCode.UNAUTHENTICATED, unknown


def repeat(client: Client, tag: str) -> None:
    request = CreateLinkRequest(destination="https://example.com/once", tags=[f"{tag}-1"])
    once = idempotency_key(str(uuid.uuid4()))
    first = client.links.Create(request, metadata=once)
    again = client.links.Create(request, metadata=once)
    assert first.link.id == again.link.id
    assert client.links.List(ListLinksRequest(tags=[f"{tag}-1"])).total_count == 1
    client.links.Delete(DeleteLinkRequest(id=first.link.id))


def failure(call: Callable[[], object]) -> SignpostError:
    try:
        answer = call()
    except SignpostError as error:
        return error
    raise AssertionError(f"answered {answer} and did not fail")


if __name__ == "__main__":
    main()
