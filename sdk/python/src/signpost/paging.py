from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeVar

from google.protobuf.message import Message


class _Paged(Protocol):
    page_token: str


Request = TypeVar("Request", bound=_Paged)
Page = TypeVar("Page", bound=Message)
Item = TypeVar("Item")


def pages(call: Callable[[Request], Page], request: Request) -> Iterator[Page]:
    """Calls any list call until its last page: ``pages(client.links.List, ListLinksRequest(page_size=50))``.

    It starts at the request's own page token, if there is one.
    """
    following: Any = type(request)()
    following.CopyFrom(request)
    while True:
        page = call(following)
        yield page
        following.page_token = _next_page_token(page)
        if not following.page_token:
            return


def items(call: Callable[[Request], Page], request: Request, pick: Callable[[Page], Iterable[Item]]) -> Iterator[Item]:
    """Every record of a list call, page after page:
    ``items(client.links.List, ListLinksRequest(), lambda page: page.links)``.
    """
    for page in pages(call, request):
        yield from pick(page)


def _next_page_token(page: Any) -> str:
    """The token is in the answer, or in the part of it for the requested format."""
    fields = page.DESCRIPTOR.fields_by_name
    if "next_page_token" in fields:
        return str(page.next_page_token)
    forms = (getattr(page, form) for form in ("json", "csv") if form in fields and page.HasField(form))
    return next((_next_page_token(form) for form in forms), "")
