from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import grpc
from google.rpc import error_details_pb2, status_pb2


@dataclass(frozen=True)
class FieldViolation:
    """One refused field."""

    field: str
    """Its path in JSON names, such as ``links[3].destination``."""
    description: str
    """What is wrong, and how to mend it."""


class SignpostError(Exception):
    """The error of every failed call, whether the service refused it or could not be reached."""

    code: grpc.StatusCode
    """The kind of failure."""
    reason: str
    """The precise cause, such as ``SHORTLINK_TAKEN``, or the code's name if the service gave no reason."""
    message: str
    metadata: Mapping[str, str]
    """Facts about the reason, such as the missing scope."""
    field_violations: Sequence[FieldViolation]
    """Every refused field of an invalid argument."""
    retry_delay: float | None
    """The wait in seconds that the service asks for before another try; None when it names none."""
    request_id: str
    """Finds the call in the service's log."""

    def __init__(self, call: grpc.Call, request_id: str) -> None:
        self.code = call.code()
        self.message = call.details() or ""
        self.reason, self.metadata, self.field_violations = self.code.name, {}, []
        self.retry_delay, self.request_id = None, request_id
        super().__init__(f"{self.code.name}: {self.message} (request {request_id})")
        self._read_details(call)

    def _read_details(self, call: grpc.Call) -> None:
        trailers = dict(call.trailing_metadata() or ())
        status = status_pb2.Status.FromString(trailers.get("grpc-status-details-bin", b""))
        info, retry, bad = error_details_pb2.ErrorInfo(), error_details_pb2.RetryInfo(), error_details_pb2.BadRequest()
        for detail in status.details:
            if detail.Unpack(info):
                self.reason, self.metadata = info.reason, dict(info.metadata)
            elif detail.Unpack(retry):
                self.retry_delay = retry.retry_delay.seconds + retry.retry_delay.nanos / 1e9
            elif detail.Unpack(bad):
                self.field_violations = [FieldViolation(each.field, each.description) for each in bad.field_violations]
