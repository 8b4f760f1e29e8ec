"""What the steps of the journey share."""

import base64
import json
import os
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from http.client import HTTPMessage
from typing import IO, TypeVar

Value = TypeVar("Value")

# A PNG of one pixel.
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
)

_BROWSER = {
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    "Accept": "text/html",
}


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        return None


def follow(address: str) -> urllib.parse.SplitResult:
    """Where a short link leads a browser."""
    request = urllib.request.Request(address, headers=_BROWSER)
    try:
        answer = urllib.request.build_opener(_NoRedirect).open(request)
    except urllib.error.HTTPError as redirect:
        assert redirect.code == 302, f"{address} answers {redirect.code}"
        return urllib.parse.urlsplit(redirect.headers["Location"])
    raise AssertionError(f"{address} answers {answer.status}")


def session_token() -> str:
    """The token of a session of the workspace's administrator, who signs in."""
    given = {"email": os.environ["SIGNPOST_EMAIL"], "password": os.environ["SIGNPOST_PASSWORD"]}
    request = urllib.request.Request(
        f"{os.environ['SIGNPOST_AUTH_URL']}/session",
        data=json.dumps(given).encode(),
        headers={"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        return str(json.load(answer)["accessToken"])


def until(what: str, ask: Callable[[], Value | None]) -> Value:
    """What a call answers once it answers something; fails after 30 seconds."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        value = ask()
        if value:
            return value
        time.sleep(0.1)
    raise AssertionError(f"{what} has not come to be")
