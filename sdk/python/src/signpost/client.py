import time
from collections.abc import Callable
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import grpc

from signpost.retries import Retries
from signpost.services import Services


class Client(Services):
    """Reaches every service by its name without "Service": ``client.links``, ``client.workflow_steps``.

    ``base_url`` is the service's address, ``http`` or ``https``, without a path. ``token`` is a workspace token, a
    member's session or an OAuth grant; without it only the open calls work. A call may take ``timeout`` seconds with all its
    tries, and has at most ``attempts_max`` tries.
    """

    def __init__(
        self,
        base_url: str,
        token: str = "",
        *,
        timeout: float = 60,
        attempts_max: int = 4,
        wait: Callable[[float], None] = time.sleep,
    ) -> None:
        self._channel = _open_channel(base_url)
        retries = Retries(token, timeout=timeout, attempts_max=attempts_max, wait=wait)
        super().__init__(grpc.intercept_channel(self._channel, retries))

    def close(self) -> None:
        """Closes the connection and cancels running calls."""
        self._channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def idempotency_key(key: str) -> tuple[tuple[str, str]]:
    """Metadata with an idempotency key: repeated calls with the key, from any process, take effect once within 24 hours:
    ``client.links.Create(request, metadata=idempotency_key("order-17"))``. Without it every call has a key of its own, which
    covers its retries.
    """
    return (("idempotency-key", key),)


def _open_channel(base_url: str) -> grpc.Channel:
    url = urlsplit(base_url)
    if url.scheme not in ("http", "https") or not url.hostname or url.path not in ("", "/") or url.query:
        raise ValueError(f"base_url {base_url!r} must be http or https, a host and at most a port")
    host = f"[{url.hostname}]" if ":" in url.hostname else url.hostname
    if url.scheme == "http":
        return grpc.insecure_channel(f"{host}:{url.port or 80}")
    return grpc.secure_channel(f"{host}:{url.port or 443}", grpc.ssl_channel_credentials())
