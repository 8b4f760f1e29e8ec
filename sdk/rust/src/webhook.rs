use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::HeaderMap;
use ring::hmac;

/// How far the clocks of the service and the receiver may differ.
const TOLERANCE: Duration = Duration::from_secs(5 * 60);

/// Why a message of a webhook is not taken for genuine: answer it with status 400 and do nothing else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WebhookError {
    /// A header of the signature is missing or damaged.
    Headers,
    /// The message is not from the last five minutes.
    Time,
    /// No signature is of this secret.
    Signature,
    /// The secret is not `whsec_` and base64.
    Secret,
}

impl fmt::Display for WebhookError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Headers => "a header of the signature is missing or damaged",
            Self::Time => "the message is not from the last five minutes",
            Self::Signature => "no signature is of this secret",
            Self::Secret => "the secret must be whsec_ and base64",
        })
    }
}

impl std::error::Error for WebhookError {}

/// Proves that the service signed a message with the secret (`whsec_…`) within the last five minutes. The payload is the
/// body exactly as it was received. A message may come more than once: its `webhook-id` stays the same.
pub fn verify_webhook(payload: &[u8], headers: &HeaderMap, secret: &str) -> Result<(), WebhookError> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|_| WebhookError::Time)?;
    verify_at(payload, headers, secret, now)
}

fn verify_at(payload: &[u8], headers: &HeaderMap, secret: &str, now: Duration) -> Result<(), WebhookError> {
    let header = |name| headers.get(name).and_then(|value| value.to_str().ok()).ok_or(WebhookError::Headers);
    let (id, timestamp, signatures) =
        (header("webhook-id")?, header("webhook-timestamp")?, header("webhook-signature")?);
    let sent = Duration::from_secs(timestamp.parse().map_err(|_| WebhookError::Headers)?);
    if now.abs_diff(sent) > TOLERANCE {
        return Err(WebhookError::Time);
    }
    let key = STANDARD.decode(secret.strip_prefix("whsec_").unwrap_or(secret)).map_err(|_| WebhookError::Secret)?;
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
    let signed = [format!("{id}.{timestamp}.").as_bytes(), payload].concat();
    // While a secret is replaced there is a signature for each of both. `verify` takes the same time for all wrong ones.
    let genuine = signatures
        .split(' ')
        .take(16)
        .filter_map(|each| each.strip_prefix("v1,"))
        .any(|each| STANDARD.decode(each).is_ok_and(|signature| hmac::verify(&key, &signed, &signature).is_ok()));
    if genuine { Ok(()) } else { Err(WebhookError::Signature) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every line of the file is a message that the service signed, or one that somebody forged.
    #[test]
    fn tells_genuine_messages_from_others() {
        let file = std::fs::read_to_string("../webhook-vectors.tsv").unwrap();
        for line in file.lines().skip(1) {
            let part: Vec<_> = line.split('\t').collect();
            let mut headers = HeaderMap::new();
            headers.insert("webhook-id", part[2].parse().unwrap());
            headers.insert("webhook-timestamp", part[3].parse().unwrap());
            headers.insert("webhook-signature", part[4].parse().unwrap());
            let payload = STANDARD.decode(part[5]).unwrap();
            let now = Duration::from_secs(part[6].parse().unwrap());
            let genuine = verify_at(&payload, &headers, part[1], now).is_ok();
            assert_eq!(genuine, part[7] == "genuine", "{}", part[0]);
        }
    }
}
