package signpost;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Context;
import io.grpc.Metadata;
import io.grpc.Status;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * A call made of successive attempts. The caller's listener hears only of the last one, so an answer is held back until
 * its status arrives.
 */
final class RepeatedCall<Q, S> extends ClientCall<Q, S> {
  private final Supplier<ClientCall<Q, S>> attempts;
  private final CallOptions options;
  private final RetryPolicy retries;
  private final Timer timer;
  private final Context context = Context.current();

  private Listener<S> listener;
  private Metadata headers;
  private Q message;

  // The lock guards these fields against a caller that cancels while an attempt starts or ends.
  private final Object lock = new Object();
  private ClientCall<Q, S> running;
  private Future<?> waiting;
  private boolean cancelled;
  private int attempt;

  RepeatedCall(Supplier<ClientCall<Q, S>> attempts, CallOptions options, RetryPolicy retries, Timer timer) {
    this.attempts = attempts;
    this.options = options;
    this.retries = retries;
    this.timer = timer;
  }

  @Override
  public void start(Listener<S> listener, Metadata headers) {
    this.listener = listener;
    this.headers = headers;
  }

  // Every attempt requests its messages itself.
  @Override
  public void request(int count) {}

  @Override
  public void sendMessage(Q message) {
    this.message = message;
  }

  @Override
  public void halfClose() {
    attempt();
  }

  @Override
  public void cancel(String reason, Throwable cause) {
    synchronized (lock) {
      if (cancelled) {
        return;
      }
      cancelled = true;
      if (running != null) {
        running.cancel(reason, cause);
        return;
      }
      if (waiting != null) {
        waiting.cancel(false);
      }
    }
    Executor executor = options.getExecutor() == null ? Runnable::run : options.getExecutor();
    Status status = Status.CANCELLED.withDescription(reason).withCause(cause);
    executor.execute(() -> listener.onClose(status, new Metadata()));
  }

  private void attempt() {
    synchronized (lock) {
      if (cancelled) {
        return;
      }
      attempt++;
      Metadata sent = new Metadata();
      sent.merge(headers);
      running = attempts.get();
      running.start(new Attempt(), sent);
      // One more than there should be, so that a second answer is noticed.
      running.request(2);
      running.sendMessage(message);
      running.halfClose();
    }
  }

  /** Whether another attempt follows; otherwise this attempt's end is the call's end. */
  private boolean repeats(Status status, Metadata trailers) {
    if (status.isOk()) {
      return false;
    }
    SignpostError error = SignpostError.of(status, trailers);
    synchronized (lock) {
      Optional<Duration> delay = retries.delayAfter(attempt, error, ThreadLocalRandom.current().nextDouble());
      long left = options.getDeadline().timeRemaining(TimeUnit.NANOSECONDS);
      if (cancelled || delay.isEmpty() || delay.get().toNanos() >= left) {
        return false;
      }
      try {
        waiting = timer.after(delay.get(), context.wrap(this::attempt));
        running = null;
        return true;
      } catch (RejectedExecutionException closed) {
        return false;
      }
    }
  }

  private final class Attempt extends Listener<S> {
    private Metadata answerHeaders;
    private S answer;

    @Override
    public void onHeaders(Metadata headers) {
      answerHeaders = headers;
    }

    @Override
    public void onMessage(S message) {
      answer = message;
    }

    @Override
    public void onClose(Status status, Metadata trailers) {
      if (repeats(status, trailers)) {
        return;
      }
      if (answerHeaders != null) {
        listener.onHeaders(answerHeaders);
      }
      if (answer != null) {
        listener.onMessage(answer);
      }
      listener.onClose(status, status.isOk() ? trailers : withRequestId(trailers));
    }

    // Exceptions carry only the trailers.
    private Metadata withRequestId(Metadata trailers) {
      if (trailers.containsKey(CallHeaders.REQUEST_ID)) {
        return trailers;
      }
      Metadata told = new Metadata();
      told.merge(trailers);
      String answered = answerHeaders == null ? null : answerHeaders.get(CallHeaders.REQUEST_ID);
      String requestId = answered != null ? answered : headers.get(CallHeaders.REQUEST_ID);
      if (requestId != null) {
        told.put(CallHeaders.REQUEST_ID, requestId);
      }
      return told;
    }
  }
}
