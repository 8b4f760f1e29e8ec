//! What the steps of the journey share.

use std::env;
use std::error::Error;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use http::Uri;
use signpost_client::SignpostError;
use signpost_client::prost_types::value::Kind;
use signpost_client::prost_types::{FieldMask, Struct, Timestamp, Value};
use signpost_client::tonic::{Response, Status};

pub type Outcome<T> = Result<T, Box<dyn Error>>;

/// A PNG of one pixel.
pub const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x02\0\0\0\x90wS\xde\0\0\0\x0cIDATx\x9cc\xf8\xcf\xc0\0\0\x03\x01\x01\0\xc9\xfe\x92\xef\0\0\0\0IEND\xaeB`\x82";

const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

/// Where a short link leads a browser.
pub fn follow(address: &str) -> Outcome<Uri> {
    let headers = format!("User-Agent: {BROWSER}\r\nAccept: text/html\r\n");
    let answer = exchange("GET", address, &headers, "")?;
    assert!(answer.starts_with("HTTP/1.1 302"), "{address} answers {answer}");
    let (_, location) = answer
        .lines()
        .filter_map(|line| line.split_once(": "))
        .find(|(name, _)| name.eq_ignore_ascii_case("location"))
        .ok_or("no location")?;
    Ok(location.parse()?)
}

/// The token of a new session of the workspace's administrator.
pub fn session_token() -> Outcome<String> {
    let address = format!("{}/session", env::var("SIGNPOST_AUTH_URL")?);
    // Neither has a character that JSON would escape.
    let (email, password) = (env::var("SIGNPOST_EMAIL")?, env::var("SIGNPOST_PASSWORD")?);
    let body = format!(r#"{{"email":"{email}","password":"{password}"}}"#);
    text_after(&post(&address, &body)?, r#""accessToken":""#)
}

/// The answer to a post of JSON.
pub fn post(address: &str, body: &str) -> Outcome<String> {
    let headers = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
    let answer = exchange("POST", address, &headers, body)?;
    assert!(answer.starts_with("HTTP/1.1 200"), "{address} answers {answer}");
    Ok(answer)
}

/// What stands between a mark and the next quotation mark.
pub fn text_after(answer: &str, mark: &str) -> Outcome<String> {
    let (_, rest) = answer.split_once(mark).ok_or("the answer lacks a field")?;
    Ok(rest.split_once('"').ok_or("half a field")?.0.to_owned())
}

/// Sends one request of HTTP on a connection of its own, and reads all of the answer.
fn exchange(method: &str, address: &str, headers: &str, body: &str) -> Outcome<String> {
    let uri: Uri = address.parse()?;
    let authority = uri.authority().ok_or("an address without a host")?;
    let mut connection = TcpStream::connect(authority.as_str())?;
    let path = uri.path();
    write!(connection, "{method} {path} HTTP/1.1\r\nHost: {authority}\r\n{headers}Connection: close\r\n\r\n{body}")?;
    let mut answer = String::new();
    connection.read_to_string(&mut answer)?;
    Ok(answer)
}

/// What is answered once it is there; an error after 30 seconds.
pub async fn until<T>(what: &str, mut ask: impl AsyncFnMut() -> Outcome<Option<T>>) -> Outcome<T> {
    for _ in 0..300 {
        if let Some(value) = ask().await? {
            return Ok(value);
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Err(format!("{what} has not come to be").into())
}

/// The reason for which a call is refused; empty when it is not.
pub fn reason_of<T>(answer: Result<Response<T>, Status>) -> String {
    answer.err().map(|status| SignpostError::from(status).reason).unwrap_or_default()
}

pub fn mask(paths: &[&str]) -> Option<FieldMask> {
    Some(FieldMask { paths: paths.iter().map(ToString::to_string).collect() })
}

pub fn in_seconds(seconds: i64) -> Outcome<Option<Timestamp>> {
    let now = i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs())?;
    Ok(Some(Timestamp { seconds: now + seconds, nanos: 0 }))
}

pub fn object(values: &[(&str, Kind)]) -> Option<Struct> {
    let fields = values.iter().map(|(key, kind)| ((*key).to_owned(), Value { kind: Some(kind.clone()) }));
    Some(Struct { fields: fields.collect() })
}
