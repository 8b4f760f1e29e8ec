package signpost;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Queue;
import java.util.function.Function;

/** Iterates over lists that come in pages. */
public final class Paging {
  private Paging() {}

  /**
   * Every record of a list call, page after page: {@code Paging.items(client.links()::list,
   * ListLinksRequest.getDefaultInstance(), ListLinksResponse::getLinksList)}. The request gives the page size, the
   * filters and, by its page token, the start. Each iterator requests the pages as it needs them.
   *
   * @throws IllegalArgumentException if the call does not answer in pages
   */
  public static <Q extends Message, S extends Message, T> Iterable<T> items(
      Function<Q, S> list, Q request, Function<S, ? extends List<T>> pick) {
    FieldDescriptor pageToken = request.getDescriptorForType().findFieldByName("page_token");
    if (pageToken == null) {
      throw new IllegalArgumentException(request.getDescriptorForType().getName() + " has no page token");
    }
    return () -> new Items<>(list, request, pick, pageToken);
  }

  private static final class Items<Q extends Message, S extends Message, T> implements Iterator<T> {
    private final Function<Q, S> list;
    private final Function<S, ? extends List<T>> pick;
    private final FieldDescriptor pageToken;
    private final Queue<T> page = new ArrayDeque<>();
    /** The next request; null after the last page. */
    private Q request;

    Items(Function<Q, S> list, Q request, Function<S, ? extends List<T>> pick, FieldDescriptor pageToken) {
      this.list = list;
      this.request = request;
      this.pick = pick;
      this.pageToken = pageToken;
    }

    @Override
    public boolean hasNext() {
      while (page.isEmpty() && request != null) {
        S answer = list.apply(request);
        page.addAll(pick.apply(answer));
        String next = nextPageToken(answer);
        request = next.isEmpty() ? null : withPageToken(next);
      }
      return !page.isEmpty();
    }

    @Override
    public T next() {
      if (!hasNext()) {
        throw new NoSuchElementException();
      }
      return page.remove();
    }

    // A message's builder builds messages of the same type.
    @SuppressWarnings("unchecked")
    private Q withPageToken(String token) {
      return (Q) request.toBuilder().setField(pageToken, token).build();
    }
  }

  /** The token of the answer, or of its part for the requested format, JSON or CSV. */
  private static String nextPageToken(Message answer) {
    FieldDescriptor own = answer.getDescriptorForType().findFieldByName("next_page_token");
    if (own != null) {
      return (String) answer.getField(own);
    }
    for (String form : List.of("json", "csv")) {
      FieldDescriptor field = answer.getDescriptorForType().findFieldByName(form);
      if (field != null && answer.hasField(field)) {
        return nextPageToken((Message) answer.getField(field));
      }
    }
    return "";
  }
}
