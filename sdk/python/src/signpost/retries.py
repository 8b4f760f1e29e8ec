import random
import time
import uuid
from collections.abc import Callable
from typing import Any, NamedTuple

import grpc
from google.protobuf import descriptor_pool
from google.protobuf.descriptor_pb2 import MethodOptions

from signpost.errors import SignpostError

_FIRST_DELAY = 0.2
_DELAY_MAX = 10.0
# A longer wait, such as for a month's quota, is reported to the caller at once.
_ASKED_DELAY_MAX = 30.0


class _CallDetailsFields(NamedTuple):
    method: str
    timeout: float | None
    metadata: tuple[tuple[str, str | bytes], ...] | None
    credentials: grpc.CallCredentials | None
    wait_for_ready: bool | None
    compression: grpc.Compression | None


class _CallDetails(_CallDetailsFields, grpc.ClientCallDetails):
    """gRPC declares this class without a constructor."""


class Retries(grpc.UnaryUnaryClientInterceptor, grpc.UnaryStreamClientInterceptor):
    """Adds the token and an idempotency key to calls, repeats them, and makes them fail with SignpostError.

    A stream gets the token and the key, and is not repeated.
    """

    def __init__(self, token: str, *, timeout: float, attempts_max: int, wait: Callable[[float], None]) -> None:
        self._token = token
        self._timeout = timeout
        self._attempts_max = attempts_max
        self._wait = wait

    def intercept_unary_unary(self, continuation: Any, client_call_details: Any, request: Any) -> Any:
        """Called by gRPC for every call; ``continuation`` is one try."""
        details = client_call_details
        metadata = self._metadata(details)
        request_id = str(metadata["x-request-id"])
        deadline = time.monotonic() + (self._timeout if details.timeout is None else details.timeout)
        attempt = 0
        while True:
            attempt += 1
            outcome = continuation(
                _CallDetails(
                    details.method,
                    deadline - time.monotonic(),
                    tuple(metadata.items()),
                    details.credentials,
                    getattr(details, "wait_for_ready", None),
                    getattr(details, "compression", None),
                ),
                request,
            )
            failure = outcome.exception()
            # The outcome itself raises errors that are no answer to a call, such as a request that does not serialize.
            if not (isinstance(failure, grpc.RpcError) and isinstance(failure, grpc.Call)):
                return outcome
            error = SignpostError(failure, request_id)
            delay = retry_delay(error, attempt)
            if delay is None or attempt >= self._attempts_max or time.monotonic() + delay >= deadline:
                raise error from failure
            self._wait(delay)

    def intercept_unary_stream(self, continuation: Any, client_call_details: Any, request: Any) -> Any:
        """Called by gRPC for every stream."""
        details = client_call_details
        return continuation(
            _CallDetails(
                details.method,
                details.timeout,
                tuple(self._metadata(details).items()),
                details.credentials,
                getattr(details, "wait_for_ready", None),
                getattr(details, "compression", None),
            ),
            request,
        )

    def _metadata(self, details: Any) -> dict[str, str | bytes]:
        metadata: dict[str, str | bytes] = {"x-request-id": str(uuid.uuid4())}
        if self._token:
            metadata["authorization"] = f"Bearer {self._token}"
        if _is_writing(details.method):
            metadata["idempotency-key"] = str(uuid.uuid4())
        return metadata | dict(details.metadata or ())


def _is_writing(method: str) -> bool:
    """Whether a call writes something new each time. The service then replays the answer of a known key."""
    service, _, name = method.strip("/").rpartition("/")
    descriptor = descriptor_pool.Default().FindServiceByName(service).methods_by_name[name]
    return descriptor.GetOptions().idempotency_level == MethodOptions.IDEMPOTENCY_UNKNOWN


def retry_delay(error: SignpostError, attempt: int) -> float | None:
    """The seconds to wait before the next try; None if another try would not help."""
    asked = error.retry_delay
    if error.code in (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED):
        return (asked or 0) + _backoff(attempt)
    if error.code in (grpc.StatusCode.RESOURCE_EXHAUSTED, grpc.StatusCode.ABORTED):
        return None if asked is None or asked > _ASKED_DELAY_MAX else asked + _backoff(attempt)
    return None


def _backoff(attempt: int) -> float:
    """Doubles with each try. Half of it is random, which spreads clients that failed together."""
    delay: float = min(_DELAY_MAX, _FIRST_DELAY * 2 ** (attempt - 1))
    return delay * random.uniform(0.5, 1)
