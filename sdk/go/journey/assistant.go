package main

import (
	v1 "signpost.example/signpost/v1"
)

// askAssistant finds an empty conversation about the link, and that nobody answers.
func (j journey) askAssistant(linkID string) {
	calls := j.Assistant
	about := v1.AssistantContextType_ASSISTANT_CONTEXT_TYPE_LINK
	file := must(calls.UploadFile(j.ctx, &v1.AssistantUploadFileRequest{
		Content: []byte("name\nAda\n"), MimeType: "text/csv", Name: "guests.csv",
	}))
	check(file.GetMimeType() == "text/csv", file)
	reason := reasonOf(calls.SendMessage(j.ctx, &v1.AssistantSendMessageRequest{
		ContextType: about, ContextId: linkID, Message: "What is this link for?",
	}))
	check(reason == "ASSISTANT_UNAVAILABLE", reason)
	found := must(calls.GetConversation(j.ctx, &v1.AssistantGetConversationRequest{ContextType: about, ContextId: linkID}))
	check(len(found.GetMessages()) == 0, found)
	read := must(calls.MarkConversationRead(j.ctx, &v1.AssistantMarkConversationReadRequest{
		ContextType: about, ContextId: linkID,
	}))
	check(read.GetMarkedCount() == 0, read)
	must(calls.ClearConversation(j.ctx, &v1.AssistantClearConversationRequest{ContextType: about, ContextId: linkID}))
}
