package signpost;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import java.util.concurrent.TimeUnit;

/** Repeats calls with one request and one response after failures that may pass. */
final class RepeatedCalls implements ClientInterceptor {
  private final RetryPolicy retries;
  private final Timer timer;

  RepeatedCalls(RetryPolicy retries, Timer timer) {
    this.retries = retries;
    this.timer = timer;
  }

  @Override
  public <Q, S> ClientCall<Q, S> interceptCall(MethodDescriptor<Q, S> method, CallOptions options, Channel next) {
    CallOptions limited =
        options.getDeadline() != null
            ? options
            : options.withDeadlineAfter(retries.timeout().toNanos(), TimeUnit.NANOSECONDS);
    if (method.getType() != MethodType.UNARY) {
      return next.newCall(method, options);
    }
    return new RepeatedCall<>(() -> next.newCall(method, limited), limited, retries, timer);
  }
}
