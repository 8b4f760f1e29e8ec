package signpost;

import com.google.protobuf.FieldMask;
import com.google.protobuf.Message;
import com.google.protobuf.Struct;
import com.google.protobuf.Timestamp;
import com.google.protobuf.Value;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What the steps of {@link Journey} share. */
final class JourneySupport {
  /** A PNG of one pixel. */
  static final byte[] PICTURE =
      Base64.getDecoder()
          .decode(
              "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC");

  private static final String BROWSER =
      "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

  private JourneySupport() {}

  /** Where a short link leads a browser. */
  static URI follow(String address) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(address))
            .header("User-Agent", BROWSER)
            .header("Accept", "text/html")
            .build();
    try {
      HttpResponse<Void> answer = HttpClient.newHttpClient().send(request, BodyHandlers.discarding());
      check(answer.statusCode() == 302, address + " answers " + answer.statusCode());
      return URI.create(answer.headers().firstValue("Location").orElseThrow());
    } catch (IOException | InterruptedException failure) {
      throw new AssertionError(address, failure);
    }
  }

  /** The token of a new session of the workspace's administrator. */
  static String sessionToken() {
    String address = System.getenv("SIGNPOST_AUTH_URL") + "/session";
    // Neither has a character that JSON would escape.
    String body =
        "{\"email\":\"%s\",\"password\":\"%s\"}"
            .formatted(System.getenv("SIGNPOST_EMAIL"), System.getenv("SIGNPOST_PASSWORD"));
    return textIn(post(address, body), "\"accessToken\":\"([^\"]+)\"");
  }

  /** What a form finds in a text, in its first group. */
  static String textIn(String text, String form) {
    Matcher found = Pattern.compile(form).matcher(text);
    check(found.find(), form);
    return found.group(1);
  }

  /** The answer to a post of JSON. */
  static String post(String address, String body) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(address))
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString(body))
            .build();
    try {
      HttpResponse<String> answer = HttpClient.newHttpClient().send(request, BodyHandlers.ofString());
      check(answer.statusCode() == 200, address + " answers " + answer.statusCode());
      return answer.body();
    } catch (IOException | InterruptedException failure) {
      throw new AssertionError(address, failure);
    }
  }

  /** Waits until a claim holds, for at most 30 seconds. */
  static void until(String what, BooleanSupplier holds) {
    Instant end = Instant.now().plusSeconds(30);
    while (!holds.getAsBoolean()) {
      check(Instant.now().isBefore(end), what + " has not come to be");
      try {
        Thread.sleep(100);
      } catch (InterruptedException stopped) {
        throw new AssertionError(stopped);
      }
    }
  }

  /** Every record of a list call. */
  static <Q extends Message, S extends Message, T> List<T> all(
      Function<Q, S> list, Q request, Function<S, ? extends List<T>> pick) {
    List<T> records = new ArrayList<>();
    Paging.items(list, request, pick).forEach(records::add);
    return records;
  }

  /** The reason for which a call is refused; empty when it is not. */
  static String reasonOf(Runnable call) {
    try {
      call.run();
      return "";
    } catch (StatusRuntimeException thrown) {
      return SignpostError.of(thrown).reason();
    }
  }

  static void check(boolean holds, Object met) {
    if (!holds) {
      throw new AssertionError("unexpected: " + met);
    }
  }

  static FieldMask mask(String... paths) {
    return FieldMask.newBuilder().addAllPaths(List.of(paths)).build();
  }

  static Timestamp in(Duration time) {
    return Timestamp.newBuilder().setSeconds(Instant.now().plus(time).getEpochSecond()).build();
  }

  static Value text(String value) {
    return Value.newBuilder().setStringValue(value).build();
  }

  static Value number(double value) {
    return Value.newBuilder().setNumberValue(value).build();
  }

  static Struct object(String key, Value value) {
    return Struct.newBuilder().putFields(key, value).build();
  }
}
