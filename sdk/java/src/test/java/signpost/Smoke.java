package signpost;

import io.grpc.Status.Code;
import io.grpc.StatusRuntimeException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import signpost.v1.CreateLinkRequest;
import signpost.v1.DeleteLinkRequest;
import signpost.v1.GetLinkRequest;
import signpost.v1.Link;
import signpost.v1.LinksServiceGrpc.LinksServiceBlockingStub;
import signpost.v1.ListLinksRequest;
import signpost.v1.ListLinksResponse;

/** Tests the client on the service at SIGNPOST_URL with SIGNPOST_TOKEN. It creates links, and leaves none behind. */
final class Smoke {
  private Smoke() {}

  public static void main(String[] args) {
    try (Client client = new Client(System.getenv("SIGNPOST_URL"), System.getenv("SIGNPOST_TOKEN"))) {
      LinksServiceBlockingStub links = client.links();
      String run = "java-" + System.currentTimeMillis();
      Set<String> created = new HashSet<>();
      for (int number = 1; number <= 5; number++) {
        created.add(links.create(link(run + " " + number)).getLink().getId());
      }

      LinksServiceBlockingStub once = links.withOption(Client.IDEMPOTENCY_KEY, run);
      Link first = once.create(link(run + " once")).getLink();
      Link second = once.create(link(run + " once")).getLink();
      check(first.getId().equals(second.getId()), "a repeated create makes one link");
      created.add(first.getId());

      List<String> listed = list(links, run);
      check(listed.size() == 6 && created.equals(new HashSet<>(listed)), "every link is listed once");
      errorsAreTyped(links);
      for (String id : created) {
        links.delete(DeleteLinkRequest.newBuilder().setId(id).build());
      }
    }
    FirstLink.run(System.getenv("SIGNPOST_URL"), System.getenv("SIGNPOST_TOKEN"));
    System.out.println("java: created, repeated, paged and failed as it should");
  }

  private static CreateLinkRequest link(String name) {
    return CreateLinkRequest.newBuilder().setDestination("https://example.com/menu").setName(name).build();
  }

  private static List<String> list(LinksServiceBlockingStub links, String run) {
    AtomicInteger pageCount = new AtomicInteger();
    List<String> listed = new ArrayList<>();
    ListLinksRequest request = ListLinksRequest.newBuilder().setPageSize(2).setSearch(run).build();
    Iterable<Link> all =
        Paging.items(
            asked -> {
              pageCount.incrementAndGet();
              return links.list(asked);
            },
            request,
            ListLinksResponse::getLinksList);
    all.forEach(link -> listed.add(link.getId()));
    check(pageCount.get() >= 3, "there are three pages, not " + pageCount);
    return listed;
  }

  private static void errorsAreTyped(LinksServiceBlockingStub links) {
    GetLinkRequest missing = GetLinkRequest.newBuilder().setId("00000000-0000-7000-8000-000000000000").build();
    SignpostError notFound = errorOf(() -> links.get(missing));
    check(notFound.code() == Code.NOT_FOUND && notFound.reason().equals("NOT_FOUND"), notFound.toString());
    check(!notFound.requestId().isEmpty(), "an error names its call");

    CreateLinkRequest wrong = CreateLinkRequest.newBuilder().setDestination("no URL").build();
    SignpostError invalid = errorOf(() -> links.create(wrong));
    check(invalid.code() == Code.INVALID_ARGUMENT, invalid.toString());
    check(invalid.fieldViolations().get(0).field().equals("destination"), invalid.toString());
  }

  private static SignpostError errorOf(Runnable call) {
    try {
      call.run();
    } catch (StatusRuntimeException thrown) {
      return SignpostError.of(thrown);
    }
    throw new AssertionError("the call succeeds");
  }

  private static void check(boolean holds, String claim) {
    if (!holds) {
      throw new AssertionError(claim);
    }
  }
}
