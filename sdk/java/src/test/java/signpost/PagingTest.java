package signpost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import signpost.v1.Event;
import signpost.v1.GetLinkRequest;
import signpost.v1.GetLinkResponse;
import signpost.v1.Link;
import signpost.v1.ListEventsJsonResponse;
import signpost.v1.ListEventsRequest;
import signpost.v1.ListEventsResponse;

class PagingTest {
  private final List<String> asked = new ArrayList<>();

  private ListEventsResponse list(ListEventsRequest request) {
    asked.add(request.getPageToken());
    return switch (request.getPageToken()) {
      case "" -> page("2", "a", "b");
      case "2" -> page("3");
      default -> page("", "c");
    };
  }

  private static ListEventsResponse page(String nextPageToken, String... ids) {
    ListEventsJsonResponse.Builder json = ListEventsJsonResponse.newBuilder().setNextPageToken(nextPageToken);
    for (String id : ids) {
      json.addEvents(Event.newBuilder().setId(id));
    }
    return ListEventsResponse.newBuilder().setJson(json).build();
  }

  @Test
  void goesThroughEmptyAndNestedPagesToTheLastEachTime() {
    Iterable<Event> events =
        Paging.items(this::list, ListEventsRequest.getDefaultInstance(), page -> page.getJson().getEventsList());
    for (int time = 1; time <= 2; time++) {
      List<String> ids = new ArrayList<>();
      events.forEach(event -> ids.add(event.getId()));
      assertEquals(List.of("a", "b", "c"), ids);
    }
    assertEquals(List.of("", "2", "3", "", "2", "3"), asked);
  }

  @Test
  void refusesACallThatDoesNotAnswerInPages() {
    GetLinkRequest request = GetLinkRequest.getDefaultInstance();
    assertThrows(
        IllegalArgumentException.class,
        () ->
            Paging.<GetLinkRequest, GetLinkResponse, Link>items(
                asked -> GetLinkResponse.getDefaultInstance(), request, page -> List.of()));
  }
}
