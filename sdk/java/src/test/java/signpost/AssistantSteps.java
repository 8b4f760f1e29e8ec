package signpost;

import static signpost.JourneySupport.check;
import static signpost.JourneySupport.reasonOf;

import com.google.protobuf.ByteString;
import signpost.v1.*;

/** The steps of {@link Journey} about the assistant. */
final class AssistantSteps {
  private static final AssistantContextType LINK = AssistantContextType.ASSISTANT_CONTEXT_TYPE_LINK;

  private final Client client;

  AssistantSteps(Client client) {
    this.client = client;
  }

  /** Finds an empty conversation about the link, and that nobody answers. */
  void ask(String linkId) {
    var calls = client.assistant();
    AssistantUploadFileRequest.Builder guests =
        AssistantUploadFileRequest.newBuilder()
            .setContent(ByteString.copyFromUtf8("name\nAda\n"))
            .setMimeType("text/csv")
            .setName("guests.csv");
    AssistantUploadFileResponse file = calls.uploadFile(guests.build());
    check(file.getMimeType().equals("text/csv"), file);
    AssistantSendMessageRequest.Builder question =
        AssistantSendMessageRequest.newBuilder()
            .setContextType(LINK)
            .setContextId(linkId)
            .setMessage("What is this link for?");
    String refused = reasonOf(() -> calls.sendMessage(question.build()));
    check(refused.equals("ASSISTANT_UNAVAILABLE"), refused);
    AssistantGetConversationRequest.Builder asked =
        AssistantGetConversationRequest.newBuilder().setContextType(LINK).setContextId(linkId);
    AssistantGetConversationResponse found = calls.getConversation(asked.build());
    check(found.getMessagesCount() == 0, found);
    AssistantMarkConversationReadRequest.Builder read =
        AssistantMarkConversationReadRequest.newBuilder().setContextType(LINK).setContextId(linkId);
    check(calls.markConversationRead(read.build()).getMarkedCount() == 0, linkId);
    AssistantClearConversationRequest.Builder end =
        AssistantClearConversationRequest.newBuilder().setContextType(LINK).setContextId(linkId);
    calls.clearConversation(end.build());
  }
}
