use std::time::Duration;

use tonic::Code;

use crate::SignpostError;

/// How often and how long calls are repeated.
#[derive(Clone, Debug)]
pub struct RetryPolicy {
    /// The most attempts of a call; 1 means no retry.
    pub attempts_max: u32,
    /// The most time of a call with all its attempts, unless its request has its own timeout.
    pub timeout: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { attempts_max: 4, timeout: Duration::from_secs(60) }
    }
}

const DELAY_FIRST: Duration = Duration::from_millis(200);
const DELAY_MAX: Duration = Duration::from_secs(10);
/// A longer wait, such as for a month's quota, is reported to the caller at once.
const ASKED_MAX: Duration = Duration::from_secs(30);

/// The wait after a failed attempt, counted from 1; none when another attempt would not help. The wait doubles with
/// every attempt and is never shorter than the service asked for. `random`, from 0 to 1, spreads clients that failed
/// together.
pub(crate) fn delay_after(attempt: u32, error: &SignpostError, random: f64) -> Option<Duration> {
    let asked = match (error.code, error.retry_delay) {
        (Code::Unavailable | Code::DeadlineExceeded, asked) => asked.unwrap_or_default(),
        // With a delay the rate is too high, or an earlier attempt with the same key still runs. Without a delay it is
        // a limit that waiting does not lift.
        (Code::ResourceExhausted | Code::Aborted, Some(asked)) => asked,
        _ => return None,
    };
    let doubled = DELAY_FIRST.saturating_mul(1 << (attempt - 1).min(16)).min(DELAY_MAX);
    (asked <= ASKED_MAX).then(|| asked + doubled.mul_f64(0.5 + random / 2.0))
}

#[cfg(test)]
mod tests {
    use tonic::Status;

    use super::*;

    fn error(code: Code, seconds: Option<u64>) -> SignpostError {
        SignpostError { retry_delay: seconds.map(Duration::from_secs), ..Status::new(code, "").into() }
    }

    #[test]
    fn waits_twice_as_long_each_time_up_to_the_longest_wait() {
        let unavailable = error(Code::Unavailable, None);
        let waits = [1, 2, 3, 40].map(|attempt| delay_after(attempt, &unavailable, 1.0).unwrap());
        assert_eq!(waits.map(|wait| wait.as_millis()), [200, 400, 800, 10_000]);
        assert_eq!(delay_after(1, &unavailable, 0.0), Some(Duration::from_millis(100)));
    }

    #[test]
    fn waits_no_shorter_than_the_service_asks_unless_that_is_too_long() {
        for code in [Code::ResourceExhausted, Code::Aborted, Code::Unavailable] {
            assert_eq!(delay_after(1, &error(code, Some(2)), 0.0), Some(Duration::from_millis(2_100)));
            assert_eq!(delay_after(1, &error(code, Some(86_400)), 0.0), None);
        }
    }

    #[test]
    fn gives_up_on_limits_that_waiting_does_not_lift_and_on_the_callers_own_mistakes() {
        for code in [Code::ResourceExhausted, Code::Aborted, Code::InvalidArgument, Code::NotFound, Code::Internal] {
            assert_eq!(delay_after(1, &error(code, None), 0.0), None, "{code:?}");
        }
    }
}
