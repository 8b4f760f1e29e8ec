"""A client of the Signpost API. Messages and stubs are generated into ``signpost.v1``."""

from signpost.client import Client, idempotency_key
from signpost.errors import FieldViolation, SignpostError
from signpost.paging import items, pages

__all__ = ["Client", "FieldViolation", "SignpostError", "idempotency_key", "items", "pages"]
