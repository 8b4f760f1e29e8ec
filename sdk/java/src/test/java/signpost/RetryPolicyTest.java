package signpost;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.grpc.Status.Code;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RetryPolicyTest {
  private final RetryPolicy policy = new RetryPolicy(50, Duration.ofSeconds(60));

  private static SignpostError error(Code code, Integer seconds) {
    Optional<Duration> delay = Optional.ofNullable(seconds).map(Duration::ofSeconds);
    return new SignpostError(code, code.name(), "", List.of(), Map.of(), delay, "");
  }

  private Optional<Long> delay(int attempt, SignpostError error, double random) {
    return policy.delayAfter(attempt, error, random).map(Duration::toMillis);
  }

  @Test
  void waitsTwiceAsLongEachTimeUpToTheLongestWait() {
    SignpostError unavailable = error(Code.UNAVAILABLE, null);
    assertEquals(Optional.of(200L), delay(1, unavailable, 1));
    assertEquals(Optional.of(400L), delay(2, unavailable, 1));
    assertEquals(Optional.of(10_000L), delay(40, unavailable, 1));
    assertEquals(Optional.of(100L), delay(1, unavailable, 0));
  }

  @Test
  void waitsNoShorterThanTheServiceAsksUnlessThatIsTooLong() {
    for (Code code : List.of(Code.RESOURCE_EXHAUSTED, Code.ABORTED, Code.UNAVAILABLE)) {
      assertEquals(Optional.of(2_100L), delay(1, error(code, 2), 0));
      assertEquals(Optional.empty(), delay(1, error(code, 86_400), 0));
    }
  }

  @Test
  void givesUpOnLimitsThatWaitingDoesNotLiftAndOnTheCallersOwnMistakes() {
    for (Code code : List.of(Code.RESOURCE_EXHAUSTED, Code.ABORTED, Code.INVALID_ARGUMENT, Code.INTERNAL)) {
      assertEquals(Optional.empty(), delay(1, error(code, null), 0), code.name());
    }
  }

  @Test
  void givesUpAfterTheLastAttempt() {
    assertEquals(Optional.empty(), delay(50, error(Code.UNAVAILABLE, null), 0));
  }
}
