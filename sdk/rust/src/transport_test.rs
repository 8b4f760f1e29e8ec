use std::collections::VecDeque;
use std::sync::Mutex;

use tonic::Request as Message;
use tonic_types::{ErrorDetails, StatusExt};

use super::*;
use crate::v1::links_service_client::LinksServiceClient;
use crate::v1::{CreateLinkRequest, CreateLinkResponse, ListLinksRequest};
use crate::{SignpostError, with_idempotency_key};

/// An answer, or none at all.
type Answered = Option<Result<Response<Body>, Status>>;

/// Answers calls from a list, and records the requests.
#[derive(Clone)]
struct Script {
    answers: Arc<Mutex<VecDeque<Answered>>>,
    asked: Arc<Mutex<Vec<HeaderMap>>>,
}

impl Service<Request<Body>> for Script {
    type Response = Response<Body>;
    type Error = Status;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Status>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Status>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        self.asked.lock().unwrap().push(request.headers().clone());
        let answer = self.answers.lock().unwrap().pop_front().expect("more calls than answers");
        Box::pin(async {
            match answer {
                Some(answer) => answer,
                None => std::future::pending().await,
            }
        })
    }
}

impl Script {
    fn new(answers: impl IntoIterator<Item = Answered>) -> Self {
        let answers = Arc::new(Mutex::new(answers.into_iter().collect()));
        Self { answers, asked: Arc::default() }
    }

    fn links(&self) -> LinksServiceClient<Transport<Self>> {
        let authorization = HeaderValue::from_static("Bearer secret");
        LinksServiceClient::new(Transport::new(self.clone(), Some(authorization), RetryPolicy::default()))
    }

    fn header(&self, name: &str) -> Vec<Option<String>> {
        let asked = self.asked.lock().unwrap();
        let text = |value: &HeaderValue| value.to_str().unwrap().to_owned();
        asked.iter().map(|headers| headers.get(name).map(text)).collect()
    }
}

/// An empty message and a status in the trailers.
fn success() -> Answered {
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from_static("0"));
    let body = Full::new(Bytes::from_static(&[0; 5])).with_trailers(async { Some(Ok(trailers)) });
    Some(Ok(Response::new(Body::new(body))))
}

fn failure(status: Status) -> Answered {
    Some(Ok(status.into_http()))
}

const SILENCE: Answered = None;

#[tokio::test(start_paused = true)]
async fn a_write_that_is_made_again_carries_the_same_key_and_the_token() {
    let script = Script::new([failure(Status::unavailable("")), Some(Err(Status::unavailable("reset"))), success()]);
    let answer = script.links().create(CreateLinkRequest::default()).await.unwrap();
    assert_eq!(answer.into_inner(), CreateLinkResponse::default());
    let keys = script.header("idempotency-key");
    assert_eq!(keys.len(), 3);
    assert!(keys[0].is_some() && keys.iter().all(|key| *key == keys[0]));
    assert_eq!(script.header("authorization")[2].as_deref(), Some("Bearer secret"));
}

#[tokio::test(start_paused = true)]
async fn two_writes_have_two_keys_reads_have_none_and_a_given_key_stays() {
    let script = Script::new([success(), success(), success(), success()]);
    let mut links = script.links();
    links.create(CreateLinkRequest::default()).await.unwrap();
    links.create(CreateLinkRequest::default()).await.unwrap();
    links.list(ListLinksRequest::default()).await.unwrap();
    links.create(with_idempotency_key(CreateLinkRequest::default(), "mine").unwrap()).await.unwrap();
    let keys = script.header("idempotency-key");
    assert_ne!(keys[0], keys[1]);
    assert_eq!(keys[2], None);
    assert_eq!(keys[3].as_deref(), Some("mine"));
}

#[tokio::test(start_paused = true)]
async fn waits_as_long_as_a_rate_limit_asks() {
    let details = ErrorDetails::with_retry_info(Some(Duration::from_secs(7)));
    let limited = Status::with_error_details(Code::ResourceExhausted, "", details);
    let script = Script::new([failure(limited), success()]);
    let start = Instant::now();
    script.links().list(ListLinksRequest::default()).await.unwrap();
    let waited = start.elapsed();
    assert!(waited >= Duration::from_secs(7) && waited < Duration::from_secs(8), "{waited:?}");
}

#[tokio::test(start_paused = true)]
async fn gives_up_after_the_last_attempt_with_the_id_that_every_attempt_had() {
    let script = Script::new((0..4).map(|_| Some(Err(Status::unavailable("nobody there")))));
    let error = SignpostError::from(script.links().list(ListLinksRequest::default()).await.unwrap_err());
    assert_eq!((error.code, error.reason.as_str()), (Code::Unavailable, "UNAVAILABLE"));
    assert_eq!(script.header("x-request-id"), vec![Some(error.request_id); 4]);
}

#[tokio::test(start_paused = true)]
async fn all_attempts_together_keep_to_the_callers_timeout() {
    let script = Script::new([failure(Status::unavailable("")), SILENCE]);
    let mut request = Message::new(ListLinksRequest::default());
    request.set_timeout(Duration::from_secs(3));
    let start = Instant::now();
    let status = script.links().list(request).await.unwrap_err();
    assert_eq!(status.code(), Code::DeadlineExceeded);
    let waited = start.elapsed().as_millis();
    assert!((2_990..=3_010).contains(&waited), "{waited} ms");
    let told = |timeout: &str| timeout.trim_end_matches('m').parse::<u64>().unwrap();
    let timeouts = script.header("grpc-timeout").into_iter().flatten().map(|text| told(&text)).collect::<Vec<_>>();
    assert!(timeouts[0] == 3_000 && timeouts[1] < 3_000, "{timeouts:?}");
}

#[tokio::test(start_paused = true)]
async fn a_proxys_answer_counts_as_unavailable() {
    let mut proxy = Response::new(Body::empty());
    *proxy.status_mut() = StatusCode::BAD_GATEWAY;
    let script = Script::new([Some(Ok(proxy)), success()]);
    script.links().list(ListLinksRequest::default()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_answered_at_once_with_everything_that_is_known() {
    let mut details = ErrorDetails::with_bad_request_violation("destination", "is no URL");
    details.set_error_info("INVALID_DESTINATION", "signpost", [("limit".to_owned(), "1".to_owned())]);
    let mut answer =
        Status::with_error_details(Code::InvalidArgument, "destination: is no URL", details).into_http::<Body>();
    answer.headers_mut().insert("x-request-id", HeaderValue::from_static("r-1"));
    let script = Script::new([Some(Ok(answer))]);
    let status = script.links().create(CreateLinkRequest::default()).await.unwrap_err();
    let error = SignpostError::from(status);
    assert_eq!((error.code, error.reason.as_str()), (Code::InvalidArgument, "INVALID_DESTINATION"));
    assert_eq!(error.field_violations[0].field, "destination");
    assert_eq!(error.metadata["limit"], "1");
    assert_eq!(error.request_id, "r-1");
    assert_eq!(error.to_string(), "INVALID_DESTINATION: destination: is no URL [request r-1]");
}
