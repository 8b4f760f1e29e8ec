package signpost;

import static signpost.JourneySupport.check;
import static signpost.JourneySupport.follow;
import static signpost.JourneySupport.in;
import static signpost.JourneySupport.number;
import static signpost.JourneySupport.object;
import static signpost.JourneySupport.reasonOf;
import static signpost.JourneySupport.text;
import static signpost.JourneySupport.until;

import com.google.protobuf.Struct;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import signpost.v1.*;

/** The steps of {@link Journey} about visits and who made them. */
final class VisitSteps {
  private final Client client;
  private final String email;

  VisitSteps(Client client, String run) {
    this.client = client;
    this.email = run + "@example.com";
  }

  /** Visits the link, and answers the name of the visit. */
  String visit(Link link) {
    URI destination = follow(link.getEntrypoint());
    check(destination.getRawQuery().startsWith("lbid="), destination);
    Event event = firstEventOf(link.getId());
    check(event.getDevice().getBrowserName().equals("Firefox"), event);
    ListEventTracesRequest ofEvent = ListEventTracesRequest.newBuilder().setEventId(event.getId()).build();
    List<EventTrace> traces = client.events().listEventTraces(ofEvent).getTracesList();
    check(
        traces.stream().anyMatch(each -> each.getStepAction() == EventAction.EVENT_ACTION_CLIENT_REDIRECT),
        traces);
    GetLeadScoreRequest score =
        GetLeadScoreRequest.newBuilder().setLinkId(link.getId()).setEventId(event.getId()).build();
    until(
        "a lead score",
        () -> {
          String reason = reasonOf(() -> client.links().getLeadScore(score));
          check(reason.isEmpty() || reason.equals("LEAD_SCORE_NOT_FOUND"), reason);
          return reason.isEmpty();
        });
    keepSetting(event.getWorkspace().getLinkSettingId());
    String query = destination.getRawQuery().substring("lbid=".length());
    return URLDecoder.decode(query, StandardCharsets.UTF_8);
  }

  private Event firstEventOf(String linkId) {
    AtomicReference<Event> first = new AtomicReference<>();
    ListEventsRequest request =
        ListEventsRequest.newBuilder().setLinkId(linkId).addInclude("device").addInclude("workspace").build();
    until(
        "an event",
        () -> {
          List<Event> listed = client.events().listEvents(request).getJson().getEventsList();
          listed.stream().findFirst().ifPresent(first::set);
          return !listed.isEmpty();
        });
    return first.get();
  }

  private void keepSetting(String id) {
    var calls = client.linkSettings();
    LinkSetting before =
        calls.getLinkSetting(GetLinkSettingRequest.newBuilder().setId(id).build()).getLinkSetting();
    UpdateLinkSettingRequest.Builder same =
        UpdateLinkSettingRequest.newBuilder().setId(id).setDataCollection(before.getDataCollection());
    LinkSetting after = calls.updateLinkSetting(same.build()).getLinkSetting();
    check(after.getDataCollection() == before.getDataCollection(), after);
  }

  void expire() {
    CreateLinkRequest.Builder wanted =
        CreateLinkRequest.newBuilder()
            .setDestination("https://example.com/now")
            .setExpiredDestination("https://example.com/over")
            .setExpiresAt(in(Duration.ofSeconds(3)));
    String entrypoint = client.links().create(wanted.build()).getLink().getEntrypoint();
    check(follow(entrypoint).getPath().equals("/now"), entrypoint);
    until("the expiry", () -> follow(entrypoint).getPath().equals("/over"));
  }

  void tellVisitors(String lbid) {
    var calls = client.visitors();
    Struct who = object("$email", text(email)).toBuilder().putFields("seats", number(4)).build();
    IdentifyRequest.Builder identity = IdentifyRequest.newBuilder().setLbid(lbid).setVisitor(who);
    String id = calls.identify(identity.build()).getVisitor().getId();
    ListVisitorsRequest byEmail = ListVisitorsRequest.newBuilder().setEmail(email).build();
    List<Visitor> page = calls.list(byEmail).getJson().getVisitorsList();
    check(page.size() == 1 && page.get(0).getId().equals(id), page);
    AttributeFilter.Builder seated =
        AttributeFilter.newBuilder()
            .setKey("seats")
            .setOperator(VisitorAttributeFilterOperator.VISITOR_ATTRIBUTE_FILTER_OPERATOR_NUMBER_GREATER_THAN)
            .setValue("3");
    SearchVisitorsRequest.Builder search =
        SearchVisitorsRequest.newBuilder().setEmail(email).addAttributeFilters(seated);
    check(calls.search(search.build()).getJson().getVisitorsCount() == 1, search);
    ListVisitorAttributeKeysRequest anyKey = ListVisitorAttributeKeysRequest.getDefaultInstance();
    check(calls.listAttributeKeys(anyKey).getAttributeKeysList().contains("seats"), "seats");
    UpdateVisitorRequest.Builder named =
        UpdateVisitorRequest.newBuilder().setId(id).setVisitor(object("$firstName", text("Ada")));
    check(calls.update(named.build()).getVisitor().getFirstName().equals("Ada"), named);
    DeleteAttributeRequest.Builder seats =
        DeleteAttributeRequest.newBuilder().setId(id).setAttributeKey("seats");
    check(calls.deleteAttribute(seats.build()).getSuccess(), seats);
    GetVisitorRequest.Builder asked = GetVisitorRequest.newBuilder().setId(id).addInclude("events");
    Visitor read = calls.get(asked.build()).getVisitor();
    check(read.getEmail().equals(email) && read.getEventsCount() > 0, read);
    check(calls.delete(DeleteVisitorRequest.newBuilder().setId(id).build()).getSuccess(), id);
  }
}
