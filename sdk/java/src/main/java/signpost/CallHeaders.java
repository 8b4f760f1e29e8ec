package signpost;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.ForwardingClientCall.SimpleForwardingClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import java.util.UUID;

/** Gives every call the token and an id for the service's log, and every writing call an idempotency key. */
final class CallHeaders implements ClientInterceptor {
  static final Metadata.Key<String> AUTHORIZATION = key("authorization");
  static final Metadata.Key<String> IDEMPOTENCY_KEY = key("idempotency-key");
  static final Metadata.Key<String> REQUEST_ID = key("x-request-id");

  private final String token;

  CallHeaders(String token) {
    this.token = token.isEmpty() ? token : printable("the token", token);
  }

  @Override
  public <Q, S> ClientCall<Q, S> interceptCall(MethodDescriptor<Q, S> method, CallOptions options, Channel next) {
    String given = options.getOption(Client.IDEMPOTENCY_KEY);
    String idempotencyKey = given == null ? UUID.randomUUID().toString() : printable("the idempotency key", given);
    return new SimpleForwardingClientCall<>(next.newCall(method, options)) {
      @Override
      public void start(Listener<S> listener, Metadata headers) {
        if (!token.isEmpty()) {
          headers.put(AUTHORIZATION, "Bearer " + token);
        }
        if (!headers.containsKey(REQUEST_ID)) {
          headers.put(REQUEST_ID, UUID.randomUUID().toString());
        }
        if (!method.isSafe() && !headers.containsKey(IDEMPOTENCY_KEY)) {
          headers.put(IDEMPOTENCY_KEY, idempotencyKey);
        }
        super.start(listener, headers);
      }
    };
  }

  // gRPC would send other characters as question marks, and two different keys could become one.
  private static String printable(String name, String value) {
    if (value.isEmpty() || value.chars().anyMatch(letter -> letter < ' ' || letter > '~')) {
      throw new IllegalArgumentException(name + " must be of printable ASCII characters");
    }
    return value;
  }

  private static Metadata.Key<String> key(String name) {
    return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
  }
}
