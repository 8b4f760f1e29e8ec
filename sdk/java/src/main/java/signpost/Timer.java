package signpost;

import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Starts tasks when they are due, on one thread that does not keep a program from ending. */
final class Timer implements AutoCloseable {
  private final ScheduledThreadPoolExecutor executor =
      new ScheduledThreadPoolExecutor(
          1,
          task -> {
            Thread thread = new Thread(task, "signpost-retries");
            thread.setDaemon(true);
            return thread;
          });

  /** Throws RejectedExecutionException after the timer is closed. */
  Future<?> after(Duration delay, Runnable task) {
    return executor.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
  }

  /** Waiting tasks still start when they are due, so that every call ends. */
  @Override
  public void close() {
    executor.shutdown();
  }
}
