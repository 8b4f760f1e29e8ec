"""The steps of the journey about the assistant."""

import base64

import openapi_client as signpost
from refusal import reason_of


def ask_assistant(calls: signpost.AssistantApi, link_id: str) -> None:
    """Finds an empty conversation about the link, and that nobody answers."""
    about = signpost.AssistantContextType.ASSISTANT_CONTEXT_TYPE_LINK
    guests = signpost.AssistantUploadFileRequest(
        content=base64.b64encode(b"name\nAda\n").decode(), mimeType="text/csv", name="guests.csv"
    )
    assert calls.assistant_service_upload_file(guests).mime_type == "text/csv"
    question = signpost.AssistantSendMessageRequest(
        contextType=about, contextId=link_id, message="What is this link for?"
    )
    refused = reason_of(lambda: calls.assistant_service_send_message(question))
    assert refused == signpost.ErrorReason.ASSISTANT_UNAVAILABLE, refused
    assert not calls.assistant_service_get_conversation(context_type=about, context_id=link_id).messages
    read = signpost.AssistantMarkConversationReadRequest(contextType=about, contextId=link_id)
    assert not calls.assistant_service_mark_conversation_read(read).marked_count
    calls.assistant_service_clear_conversation(context_type=about, context_id=link_id)
