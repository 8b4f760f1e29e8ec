use signpost_client::Client;
use signpost_client::v1::{
    AssistantClearConversationRequest, AssistantContextType, AssistantGetConversationRequest,
    AssistantMarkConversationReadRequest, AssistantSendMessageRequest, AssistantUploadFileRequest,
};

use crate::support::{Outcome, reason_of};

/// Finds an empty conversation about the link, and that nobody answers.
pub async fn ask(client: &Client, link_id: &str) -> Outcome<()> {
    let mut calls = client.assistant();
    let (context_type, context_id) = (AssistantContextType::Link.into(), link_id.to_owned());
    let guests = AssistantUploadFileRequest {
        content: b"name\nAda\n".into(),
        mime_type: "text/csv".into(),
        name: "guests.csv".into(),
    };
    assert_eq!(calls.upload_file(guests).await?.into_inner().mime_type, "text/csv");
    let question = AssistantSendMessageRequest {
        context_type,
        context_id: context_id.clone(),
        message: "What is this link for?".into(),
        ..Default::default()
    };
    assert_eq!(reason_of(calls.send_message(question).await), "ASSISTANT_UNAVAILABLE");
    let asked = AssistantGetConversationRequest { context_type, context_id: context_id.clone() };
    assert!(calls.get_conversation(asked).await?.into_inner().messages.is_empty());
    let read = AssistantMarkConversationReadRequest { context_type, context_id: context_id.clone() };
    assert_eq!(calls.mark_conversation_read(read).await?.into_inner().marked_count, 0);
    calls.clear_conversation(AssistantClearConversationRequest { context_type, context_id }).await?;
    Ok(())
}
