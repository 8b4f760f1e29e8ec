//! A client for Signpost over gRPC.
//!
//! [`Client`] reaches every service, such as `client.links()`. Its calls carry the token and are repeated when that is
//! safe and may help; a repeated write takes effect once. [`items`] iterates over any list. [`SignpostError`] explains
//! a failed call. [`verify_webhook`] tells genuine messages of webhooks from others.

mod client;
mod error;
mod paging;
mod retry;
mod transport;
mod webhook;

mod generated {
    #![allow(clippy::all, rustdoc::all)]
    include!(concat!(env!("OUT_DIR"), "/signpost.rs"));
}

mod methods {
    include!(concat!(env!("OUT_DIR"), "/methods.rs"));
}

pub use client::{Client, InvalidClient, with_idempotency_key};
pub use error::{FieldViolation, SignpostError};
pub use generated::signpost::{options, v1};
pub use paging::{Items, Page, PageRequest, items};
pub use prost_types;
pub use retry::RetryPolicy;
pub use tonic;
pub use transport::Transport;
pub use webhook::{WebhookError, verify_webhook};
