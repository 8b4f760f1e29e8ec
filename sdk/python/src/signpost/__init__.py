"""A client of the Signpost API. Messages and stubs are generated into ``signpost.v1``."""

from signpost.client import Client, idempotency_key
from signpost.errors import FieldViolation, SignpostError
from signpost.paging import items, pages
from signpost.webhooks import WebhookVerificationError, verify_webhook

__all__ = [
    "Client",
    "FieldViolation",
    "SignpostError",
    "WebhookVerificationError",
    "idempotency_key",
    "items",
    "pages",
    "verify_webhook",
]
