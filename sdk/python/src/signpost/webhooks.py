import base64
import binascii
import hashlib
import hmac
import json
import time
from collections.abc import Mapping
from typing import Any

_TOLERANCE_SECONDS = 5 * 60


class WebhookVerificationError(Exception):
    """The message does not come from the service, or not now: answer it with status 400 and do nothing else."""


def verify_webhook(
    payload: bytes | str, headers: Mapping[str, str], secret: str, *, now: float | None = None
) -> dict[str, Any]:
    """Read a message of a webhook, after it has proved that the service signed it with ``secret`` (``whsec_…``).

    ``payload`` is the body exactly as it was received. The signature must be from the last five minutes. A message may
    come more than once: its ``webhook-id`` stays the same.

    :raises WebhookVerificationError: if the message is not genuine.
    """
    found = {name.lower(): value for name, value in headers.items()}
    message_id, timestamp, signatures = (
        found.get(name, "") for name in ("webhook-id", "webhook-timestamp", "webhook-signature")
    )
    if not message_id or not timestamp or not signatures:
        raise WebhookVerificationError("a header of the signature is missing")
    seconds = int(timestamp) if timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12 else None
    if seconds is None or abs((time.time() if now is None else now) - seconds) > _TOLERANCE_SECONDS:
        raise WebhookVerificationError("the message is not from the last five minutes")
    body = payload.encode() if isinstance(payload, str) else payload
    signed = f"{message_id}.{timestamp}.".encode() + body
    wanted = hmac.new(_key_of(secret), signed, hashlib.sha256).digest()
    # While a secret is replaced there is a signature for each of both.
    for each in signatures.split(" ")[:16]:
        version, _, signature = each.partition(",")
        if version == "v1" and hmac.compare_digest(_bytes_of(signature), wanted):
            message: dict[str, Any] = json.loads(body)
            return message
    raise WebhookVerificationError("no signature is of this secret")


def _key_of(secret: str) -> bytes:
    key = _bytes_of(secret.removeprefix("whsec_"))
    if not key:
        raise ValueError("the secret must be whsec_ and base64")
    return key


def _bytes_of(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""
