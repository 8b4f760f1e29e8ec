package signpost;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ChannelCredentials;
import io.grpc.ClientInterceptors;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.TlsChannelCredentials;
import java.net.URI;
import java.util.concurrent.TimeUnit;

/**
 * A connection to a Signpost service. It opens with the first call and serves any number of threads. Every service has
 * a blocking stub by its name, such as {@code client.links()}; make stubs of other kinds from {@link #channel()}.
 */
public final class Client implements Services, AutoCloseable {
  /**
   * Gives a call an idempotency key: repeated calls with the key, from any process, take effect once within 24 hours:
   * {@code client.links().withOption(Client.IDEMPOTENCY_KEY, key)}. Keys are 1 to 255 printable ASCII characters.
   * Without one, every writing call has a key of its own, which covers its attempts.
   */
  public static final CallOptions.Key<String> IDEMPOTENCY_KEY = CallOptions.Key.create("signpost.idempotency-key");

  private static final int ANSWER_BYTES_MAX = 64 * 1024 * 1024;
  private static final int CLOSING_SECONDS_MAX = 10;

  private final ManagedChannel connection;
  private final Timer timer;
  private final Channel channel;

  /** As {@link #Client(String, String, RetryPolicy)}, with the default retries. */
  public Client(String baseUrl, String token) {
    this(baseUrl, token, RetryPolicy.DEFAULT);
  }

  /**
   * @param baseUrl the service's address, such as {@code https://signpost.example.com}; with {@code http}, calls are not
   *     encrypted
   * @param token a workspace token, a member's session or an OAuth grant; empty for the calls that are open to everyone
   * @throws IllegalArgumentException if no call can be made with them
   */
  public Client(String baseUrl, String token, RetryPolicy retries) {
    URI address = addressOf(baseUrl);
    boolean encrypted = address.getScheme().equalsIgnoreCase("https");
    ChannelCredentials credentials =
        encrypted ? TlsChannelCredentials.create() : InsecureChannelCredentials.create();
    int port = address.getPort() >= 0 ? address.getPort() : encrypted ? 443 : 80;
    // The order matters: the headers are made once, and every attempt carries the same.
    CallHeaders headers = new CallHeaders(token);
    connection =
        Grpc.newChannelBuilderForAddress(address.getHost(), port, credentials)
            .userAgent("signpost-java/0.1.0")
            .maxInboundMessageSize(ANSWER_BYTES_MAX)
            // gRPC's own retries would repeat calls by other rules.
            .disableRetry()
            .build();
    timer = new Timer();
    channel = ClientInterceptors.interceptForward(connection, headers, new RepeatedCalls(retries, timer));
  }

  /** The channel for stubs of any kind: {@code LinksServiceGrpc.newFutureStub(client.channel())}. */
  @Override
  public Channel channel() {
    return channel;
  }

  /** Closes the connection when its running calls have ended, or after 10 seconds. */
  @Override
  public void close() {
    connection.shutdown();
    try {
      connection.awaitTermination(CLOSING_SECONDS_MAX, TimeUnit.SECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
    connection.shutdownNow();
    timer.close();
  }

  private static URI addressOf(String baseUrl) {
    URI address = URI.create(baseUrl);
    String scheme = address.getScheme();
    boolean known = "http".equalsIgnoreCase(scheme) || "https".equalsIgnoreCase(scheme);
    if (!known || address.getHost() == null) {
      throw new IllegalArgumentException("the base URL " + baseUrl + " is not http://host or https://host");
    }
    boolean bare = address.getPath().isEmpty() || address.getPath().equals("/");
    if (!bare || address.getQuery() != null) {
      throw new IllegalArgumentException("the base URL " + baseUrl + " may have no path: gRPC has its own");
    }
    return address;
  }
}
