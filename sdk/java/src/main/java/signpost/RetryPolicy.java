package signpost;

import java.time.Duration;
import java.util.Optional;

/**
 * How often and how long calls are repeated.
 *
 * @param attemptsMax the most attempts of a call; 1 means no retry
 * @param timeout the most time of a call with all its attempts, unless its stub has a deadline
 */
public record RetryPolicy(int attemptsMax, Duration timeout) {
  public static final RetryPolicy DEFAULT = new RetryPolicy(4, Duration.ofSeconds(60));

  private static final Duration DELAY_FIRST = Duration.ofMillis(200);
  private static final Duration DELAY_MAX = Duration.ofSeconds(10);
  // A longer wait, such as for a month's quota, is reported to the caller at once.
  private static final Duration ASKED_MAX = Duration.ofSeconds(30);

  public RetryPolicy {
    if (attemptsMax < 1 || timeout.isNegative() || timeout.isZero()) {
      throw new IllegalArgumentException("a call needs an attempt and some time");
    }
  }

  /**
   * The wait after a failed attempt, counted from 1; empty when another attempt would not help. The wait doubles with
   * every attempt and is never shorter than the service asked for. {@code random}, from 0 to 1, spreads clients that
   * failed together.
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

  // RESOURCE_EXHAUSTED and ABORTED with a delay mean that the rate is too high, or that an earlier attempt with the
  // same key still runs. Without a delay they mean a limit that waiting does not lift.
  private static boolean isWorthAnother(SignpostError error) {
    return switch (error.code()) {
      case UNAVAILABLE, DEADLINE_EXCEEDED -> true;
      case RESOURCE_EXHAUSTED, ABORTED -> error.retryDelay().isPresent();
      default -> false;
    };
  }
}
