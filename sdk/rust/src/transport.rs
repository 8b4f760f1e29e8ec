use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use tokio::time::{Instant, sleep, timeout_at};
use tonic::body::Body;
use tonic::codegen::{Bytes, StdError};
use tonic::metadata::MetadataMap;
use tonic::transport::Channel;
use tonic::{Code, Status};
use tower_service::Service;

use crate::RetryPolicy;
use crate::methods::reads;
use crate::retry::delay_after;

const IDEMPOTENCY_KEY: &str = "idempotency-key";
const REQUEST_ID: &str = "x-request-id";
const TIMEOUT: &str = "grpc-timeout";

/// The transport of every stub. It adds the token, gives writing calls an idempotency key, and repeats calls after
/// failures that may pass. Request and answer are held in memory; of a stream, too, whose parts therefore come together
/// once it has ended.
#[derive(Clone)]
pub struct Transport<S = Channel> {
    inner: S,
    caller: Arc<Caller>,
}

struct Caller {
    authorization: Option<HeaderValue>,
    retries: RetryPolicy,
}

impl<S> Transport<S> {
    pub(crate) fn new(inner: S, authorization: Option<HeaderValue>, retries: RetryPolicy) -> Self {
        Self { inner, caller: Arc::new(Caller { authorization, retries }) }
    }
}

impl<S> Service<Request<Body>> for Transport<S>
where
    S: Service<Request<Body>, Response = Response<Body>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<StdError>,
{
    type Response = Response<Body>;
    type Error = Status;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Status>> + Send>>;

    // Each attempt waits for the connection itself.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Status>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        Box::pin(repeat(self.inner.clone(), self.caller.clone(), request))
    }
}

/// A call that can be repeated any number of times.
struct Call {
    head: http::request::Parts,
    body: Bytes,
}

async fn repeat<S>(mut inner: S, caller: Arc<Caller>, request: Request<Body>) -> Result<Response<Body>, Status>
where
    S: Service<Request<Body>, Response = Response<Body>>,
    S::Error: Into<StdError>,
{
    let (mut head, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    if let Some(authorization) = &caller.authorization {
        head.headers.insert(http::header::AUTHORIZATION, authorization.clone());
    }
    if !reads(head.uri.path()) && !head.headers.contains_key(IDEMPOTENCY_KEY) {
        head.headers.insert(IDEMPOTENCY_KEY, new_id());
    }
    let request_id = head.headers.entry(REQUEST_ID).or_insert_with(new_id).clone();
    let end = Instant::now() + time_allowed(&head.headers).unwrap_or(caller.retries.timeout);
    let left = || end.saturating_duration_since(Instant::now());
    let call = Call { head, body };
    let mut attempt = 1;
    loop {
        let answer = match timeout_at(end, call.make(&mut inner, left())).await {
            Ok(answer) => answer,
            Err(_) => Err(Status::deadline_exceeded("the service did not answer in time")),
        };
        let failure = match &answer {
            Ok(answer) => answer.failure(),
            Err(status) => Some(status.clone()),
        };
        let delay = failure.and_then(|failure| delay_after(attempt, &failure.into(), rand::random()));
        match delay.filter(|delay| attempt < caller.retries.attempts_max && *delay < left()) {
            Some(delay) => sleep(delay).await,
            None => return finish(answer, request_id),
        }
        attempt += 1;
    }
}

/// Adds the request's id to every error, whatever its origin.
fn finish(answer: Result<Answer, Status>, request_id: HeaderValue) -> Result<Response<Body>, Status> {
    match answer {
        Ok(mut answer) => {
            let request_id = answer.head.headers.entry(REQUEST_ID).or_insert(request_id).clone();
            if let Some(trailers) = &mut answer.trailers {
                trailers.entry(REQUEST_ID).or_insert(request_id);
            }
            Ok(answer.into_response())
        }
        Err(mut status) => {
            let mut metadata = std::mem::take(status.metadata_mut()).into_headers();
            metadata.entry(REQUEST_ID).or_insert(request_id);
            *status.metadata_mut() = MetadataMap::from_headers(metadata);
            Err(status)
        }
    }
}

impl Call {
    async fn make<S>(&self, inner: &mut S, allowed: Duration) -> Result<Answer, Status>
    where
        S: Service<Request<Body>, Response = Response<Body>>,
        S::Error: Into<StdError>,
    {
        std::future::poll_fn(|context| inner.poll_ready(context)).await.map_err(unavailable)?;
        let mut request = Request::new(Body::new(Full::new(self.body.clone())));
        *request.method_mut() = self.head.method.clone();
        *request.uri_mut() = self.head.uri.clone();
        *request.version_mut() = self.head.version;
        *request.headers_mut() = self.head.headers.clone();
        *request.extensions_mut() = self.head.extensions.clone();
        request.headers_mut().insert(TIMEOUT, written(allowed));
        let (head, body) = inner.call(request).await.map_err(unavailable)?.into_parts();
        let body = body.collect().await.map_err(|status| Status::unavailable(status.message()))?;
        let trailers = body.trailers().cloned();
        Ok(Answer { head, body: body.to_bytes(), trailers })
    }
}

/// A complete response; gRPC's status comes at its end.
struct Answer {
    head: http::response::Parts,
    body: Bytes,
    trailers: Option<HeaderMap>,
}

impl Answer {
    fn failure(&self) -> Option<Status> {
        let status = self.trailers.as_ref().and_then(Status::from_header_map);
        match status.or_else(|| Status::from_header_map(&self.head.headers)) {
            Some(status) => (status.code() != Code::Ok).then_some(status),
            // A proxy answered instead of the service.
            None => match self.head.status {
                StatusCode::TOO_MANY_REQUESTS
                | StatusCode::BAD_GATEWAY
                | StatusCode::SERVICE_UNAVAILABLE
                | StatusCode::GATEWAY_TIMEOUT => Some(Status::unavailable(self.head.status.to_string())),
                _ => None,
            },
        }
    }

    fn into_response(self) -> Response<Body> {
        let body = Full::new(self.body);
        let body = match self.trailers {
            Some(trailers) => Body::new(body.with_trailers(async { Some(Ok(trailers)) })),
            None => Body::new(body),
        };
        Response::from_parts(self.head, body)
    }
}

/// A failed connection does not tell whether the call took effect; its idempotency key makes a repetition safe.
fn unavailable(error: impl Into<StdError>) -> Status {
    let error = error.into();
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        message = format!("{message}: {error}");
        source = error.source();
    }
    Status::unavailable(message)
}

fn new_id() -> HeaderValue {
    let id = format!("{:032x}", rand::random::<u128>());
    HeaderValue::from_str(&id).expect("hexadecimal digits are a header value")
}

/// The caller's time limit for the whole call with all attempts: digits and a unit, as `set_timeout` writes it.
fn time_allowed(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(TIMEOUT)?.to_str().ok()?;
    let (digits, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
    let count: u64 = digits.parse().ok()?;
    Some(match unit {
        "H" => Duration::from_secs(count * 3600),
        "M" => Duration::from_secs(count * 60),
        "S" => Duration::from_secs(count),
        "m" => Duration::from_millis(count),
        "u" => Duration::from_micros(count),
        "n" => Duration::from_nanos(count),
        _ => return None,
    })
}

/// The timeout header in milliseconds; gRPC allows eight digits.
fn written(allowed: Duration) -> HeaderValue {
    let milliseconds = allowed.as_millis().clamp(1, 99_999_999);
    HeaderValue::from_str(&format!("{milliseconds}m")).expect("digits are a header value")
}

#[cfg(test)]
#[path = "transport_test.rs"]
mod tests;
