package signpost;

import java.time.Duration;
import java.util.Optional;

/**
 * How often and how patiently calls are made again.
 *
 * @param attemptsMax how often a call is made at most; 1 means never again
 * @param timeout how long a call may take with all its attempts, unless its stub has a deadline
 */
public record RetryPolicy(int attemptsMax, Duration timeout) {
  public static final RetryPolicy DEFAULT = new RetryPolicy(4, Duration.ofSeconds(60));

  private static final Duration DELAY_FIRST = Duration.ofMillis(200);
  private static final Duration DELAY_MAX = Duration.ofSeconds(10);
  // A limit that is used up for longer, such as a month's quota, is for the caller to know at once.
  private static final Duration ASKED_MAX = Duration.ofSeconds(30);

  public RetryPolicy {
    if (attemptsMax < 1 || timeout.isNegative() || timeout.isZero()) {
      throw new IllegalArgumentException("a call needs an attempt and some time");
    }
  }

  /**
   * The wait after an attempt, counted from 1, that failed; empty when another would not help. It doubles with every
   * attempt, is never less than the service asked for, and {@code random}, from 0 to 1, spreads clients that failed
   * together.
   */
  Optional<Duration> delayAfter(int attempt, SignpostError error, double random) {
    if (attempt >= attemptsMax || !isWorthAnother(error)) {
      return Optional.empty();
    }
    Duration asked = error.retryDelay().orElse(Duration.ZERO);
    if (asked.compareTo(ASKED_MAX) > 0) {
      return Optional.empty();
    }
    long doubled = Math.min(DELAY_FIRST.toMillis() << Math.min(attempt - 1, 16), DELAY_MAX.toMillis());
    return Optional.of(asked.plusMillis(Math.round(doubled * (0.5 + random / 2))));
  }

  // RESOURCE_EXHAUSTED and ABORTED with a delay mean that the rate is too high, or that an earlier attempt with the same
  // key still runs. Without one it is a limit that waiting does not lift.
  private static boolean isWorthAnother(SignpostError error) {
    return switch (error.code()) {
      case UNAVAILABLE, DEADLINE_EXCEEDED -> true;
      case RESOURCE_EXHAUSTED, ABORTED -> error.retryDelay().isPresent();
      default -> false;
    };
  }
}
