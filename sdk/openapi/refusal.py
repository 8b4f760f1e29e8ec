"""How the generated client tells that a call is refused."""

from collections.abc import Callable

import openapi_client as signpost
from openapi_client.exceptions import ApiException


def reason_of(
    call: Callable[[], object], expected: signpost.ErrorReason | None = None
) -> signpost.ErrorReason | None:
    """Why a call is refused; none when it is not."""
    try:
        call()
    except ApiException as refused:
        reason = refused.data.error.code_type
        assert expected in (None, reason), reason
        return reason
    return None
