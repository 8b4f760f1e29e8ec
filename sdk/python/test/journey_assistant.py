"""The steps of the journey about the assistant."""

from signpost import Client
from signpost.v1 import assistant_service_pb2 as assistant
from signpost.v1.assistant_message_pb2 import ASSISTANT_CONTEXT_TYPE_LINK
from smoke import failure


def ask_assistant(client: Client, link_id: str) -> None:
    """Finds an empty conversation about the link, and that nobody answers."""
    stub = client.assistant
    subject = {"context_type": ASSISTANT_CONTEXT_TYPE_LINK, "context_id": link_id}
    file = assistant.AssistantUploadFileRequest(content=b"name\nAda\n", mime_type="text/csv", name="guests.csv")
    assert stub.UploadFile(file).mime_type == "text/csv"
    message = assistant.AssistantSendMessageRequest(message="What is this link for?", **subject)
    assert failure(lambda: stub.SendMessage(message)).reason == "ASSISTANT_UNAVAILABLE"
    assert not stub.GetConversation(assistant.AssistantGetConversationRequest(**subject)).messages
    assert stub.MarkConversationRead(assistant.AssistantMarkConversationReadRequest(**subject)).marked_count == 0
    stub.ClearConversation(assistant.AssistantClearConversationRequest(**subject))
