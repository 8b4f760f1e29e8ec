"""The steps of the journey about the assistant."""

from signpost import Client
from signpost.v1 import assistant_service_pb2 as assistant
from signpost.v1.assistant_message_pb2 import ASSISTANT_CONTEXT_TYPE_LINK as LINK
from smoke import failure


def ask_assistant(client: Client, link_id: str) -> None:
    """Finds an empty conversation about the link, and that nobody answers."""
    stub = client.assistant
    file = assistant.AssistantUploadFileRequest(content=b"name\nAda\n", mime_type="text/csv", name="guests.csv")
    assert stub.UploadFile(file).mime_type == "text/csv"
    message = assistant.AssistantSendMessageRequest(
        context_type=LINK, context_id=link_id, message="What is this link for?"
    )
    assert failure(lambda: stub.SendMessage(message)).reason == "ASSISTANT_UNAVAILABLE"
    asked = assistant.AssistantGetConversationRequest(context_type=LINK, context_id=link_id)
    assert not stub.GetConversation(asked).messages
    read = assistant.AssistantMarkConversationReadRequest(context_type=LINK, context_id=link_id)
    assert stub.MarkConversationRead(read).marked_count == 0
    stub.ClearConversation(assistant.AssistantClearConversationRequest(context_type=LINK, context_id=link_id))
