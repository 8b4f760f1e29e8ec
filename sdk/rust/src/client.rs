use std::fmt;

use http::{HeaderValue, Uri};
use tonic::Request;
use tonic::metadata::{Ascii, MetadataValue};
use tonic::transport::{ClientTlsConfig, Endpoint};

use crate::{RetryPolicy, Transport};

/// A connection to a Signpost service. It opens with the first call. Clones share it.
#[derive(Clone)]
pub struct Client {
    transport: Transport,
}

/// A base URL or a token that is unusable for calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidClient(String);

impl Client {
    /// `base_url` is the service's address, such as `https://signpost.example.com`; with `http` calls are not
    /// encrypted. With an empty token only the open calls work. Needs a Tokio runtime.
    pub fn new(base_url: &str, token: &str) -> Result<Self, InvalidClient> {
        Self::with_retries(base_url, token, RetryPolicy::default())
    }

    /// As [`Client::new`], with retries of the caller's choice.
    pub fn with_retries(base_url: &str, token: &str, retries: RetryPolicy) -> Result<Self, InvalidClient> {
        let endpoint = endpoint(base_url)?;
        let authorization = match token {
            "" => None,
            _ => Some(bearer(token)?),
        };
        let transport = Transport::new(endpoint.connect_lazy(), authorization, retries);
        Ok(Self { transport })
    }

    /// A stub with settings of its own: `client.service(|t| LinksServiceClient::new(t).max_decoding_message_size(n))`.
    pub fn service<S>(&self, stub: impl FnOnce(Transport) -> S) -> S {
        stub(self.transport.clone())
    }
}

/// A request with an idempotency key: repeated requests with the key, from any process, take effect once within 24
/// hours. Keys are 1 to 255 printable ASCII characters. A writing call without one gets a key of its own, the same for
/// all its attempts.
pub fn with_idempotency_key<T>(message: T, key: &str) -> Result<Request<T>, InvalidClient> {
    let key: MetadataValue<Ascii> =
        key.parse().map_err(|_| InvalidClient("the idempotency key has characters that no header may have".into()))?;
    let mut request = Request::new(message);
    request.metadata_mut().insert("idempotency-key", key);
    Ok(request)
}

include!(concat!(env!("OUT_DIR"), "/services.rs"));

fn endpoint(base_url: &str) -> Result<Endpoint, InvalidClient> {
    let invalid = |fault: &str| InvalidClient(format!("the base URL {base_url:?} {fault}"));
    let uri: Uri = base_url.parse().map_err(|_| invalid("is no URL"))?;
    if !matches!(uri.path(), "" | "/") || uri.query().is_some() {
        return Err(invalid("may have no path: gRPC has its own"));
    }
    let tls = match uri.scheme_str() {
        Some("http") => false,
        Some("https") => true,
        _ => return Err(invalid("does not begin with http:// or https://")),
    };
    let endpoint = Endpoint::from(uri)
        .user_agent(concat!("signpost-rust/", env!("CARGO_PKG_VERSION")))
        .map_err(|_| invalid("cannot be used"))?;
    if !tls {
        return Ok(endpoint);
    }
    let roots = ClientTlsConfig::new().with_native_roots();
    endpoint.tls_config(roots).map_err(|error| invalid(&format!("cannot be reached over TLS: {error}")))
}

fn bearer(token: &str) -> Result<HeaderValue, InvalidClient> {
    let mut value = HeaderValue::from_str(&format!("Bearer {token}"))
        .map_err(|_| InvalidClient("the token has characters that no header may have".into()))?;
    value.set_sensitive(true);
    Ok(value)
}

impl fmt::Display for InvalidClient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for InvalidClient {}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn refuses_addresses_that_grpc_cannot_use_and_says_why() {
        for (base_url, fault) in [
            ("ftp://localhost", "http://"),
            ("localhost:8080", "http://"),
            ("http://localhost/api", "no path"),
            ("http://local host", "no URL"),
        ] {
            let error = Client::new(base_url, "token").err().expect(base_url);
            assert!(error.to_string().contains(fault), "{error}");
        }
        assert!(Client::new("http://localhost:8080/", "").is_ok());
        assert!(Client::new("https://localhost", "token").is_ok());
    }

    #[tokio::test]
    async fn refuses_a_token_that_would_end_the_header() {
        assert!(Client::new("http://localhost", "a\r\nb").is_err());
    }
}
