package signpost;

import io.grpc.StatusRuntimeException;
import signpost.v1.CreateLinkRequest;
import signpost.v1.DeleteLinkRequest;
import signpost.v1.Link;
import signpost.v1.ListLinksRequest;
import signpost.v1.ListLinksResponse;

/** The example of the READMEs, as {@link Smoke} runs it. It leaves no link behind. */
final class FirstLink {
  private FirstLink() {}

  static void run(String url, String token) {
    try (Client client = new Client(url, token)) {
      CreateLinkRequest menu =
          CreateLinkRequest.newBuilder().setDestination("https://example.com/menu").setName("Menu").build();
      Link link = client.links().create(menu).getLink();
      ListLinksRequest search = ListLinksRequest.newBuilder().setSearch("menu").build();
      for (Link each : Paging.items(client.links()::list, search, ListLinksResponse::getLinksList)) {
        System.out.println(each.getEntrypoint());
      }

      if (take(client, menu.toBuilder().setShortlink(link.getShortlink()).build())) {
        throw new AssertionError("a short link is taken twice");
      }
      client.links().delete(DeleteLinkRequest.newBuilder().setId(link.getId()).build());
    }
  }

  private static boolean take(Client client, CreateLinkRequest request) {
    try {
      client.links().create(request);
      return true;
    } catch (StatusRuntimeException thrown) {
      SignpostError error = SignpostError.of(thrown);
      if (!error.reason().equals("SHORTLINK_TAKEN")) {
        throw thrown;
      }
      return false;
    }
  }
}
