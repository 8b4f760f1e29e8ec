use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use tonic::{Code, Status};
use tonic_types::StatusExt;

/// One refused field: its path in JSON names (`links[3].destination`) and how to mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldViolation {
    pub field: String,
    pub description: String,
}

/// Why a call failed, as told by the service or the connection.
#[derive(Clone, Debug)]
pub struct SignpostError {
    /// The class of the error.
    pub code: Code,
    /// The precise cause, such as `SHORTLINK_TAKEN`, or the code's name if the service gave no reason.
    pub reason: String,
    /// The message for people.
    pub message: String,
    /// Every refused field.
    pub field_violations: Vec<FieldViolation>,
    /// Facts about the reason, such as the missing scope.
    pub metadata: HashMap<String, String>,
    /// The wait that the service asks for before another try.
    pub retry_delay: Option<Duration>,
    /// Finds the call in the service's log.
    pub request_id: String,
}

impl From<Status> for SignpostError {
    fn from(status: Status) -> Self {
        // Unreadable details are ignored: code and message remain.
        let details = status.get_error_details();
        let info = details.error_info();
        let violations = details.bad_request().map(|bad| bad.field_violations.as_slice());
        Self {
            code: status.code(),
            reason: info.map_or_else(|| name(status.code()).to_owned(), |info| info.reason.clone()),
            message: status.message().to_owned(),
            field_violations: violations
                .unwrap_or_default()
                .iter()
                .map(|violation| FieldViolation {
                    field: violation.field.clone(),
                    description: violation.description.clone(),
                })
                .collect(),
            metadata: info.map(|info| info.metadata.clone()).unwrap_or_default(),
            retry_delay: details.retry_info().and_then(|retry| retry.retry_delay),
            request_id: status
                .metadata()
                .get("x-request-id")
                .and_then(|id| id.to_str().ok())
                .unwrap_or_default()
                .to_owned(),
        }
    }
}

impl fmt::Display for SignpostError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {} [request {}]", self.reason, self.message, self.request_id)
    }
}

impl std::error::Error for SignpostError {}

fn name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}
