package signpost

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
)

// Error is everything a call can fail with, whether the service refused it or could not be reached. Read it with
// errors.As; connect.CodeOf works on it as well.
type Error struct {
	// Code is what kind of failure it is.
	Code connect.Code
	// Reason is the precise cause, such as SHORTLINK_TAKEN; the code's name where the service has said nothing more.
	Reason  string
	Message string
	// Metadata are facts that go with the reason, such as the missing scope.
	Metadata map[string]string
	// FieldViolations are all refused fields of an invalid argument.
	FieldViolations []FieldViolation
	// RetryDelay is how long the service asks to wait before another try; 0 when it does not say.
	RetryDelay time.Duration
	// RequestID leads to the call in the service's log.
	RequestID string

	cause error
}

// FieldViolation is one field that was refused.
type FieldViolation struct {
	// Field is its path in JSON names, such as links[3].destination.
	Field string
	// Description is what is wrong, and what to do about it.
	Description string
}

func (e *Error) Error() string {
	return fmt.Sprintf("signpost: %s: %s (request %s)", e.Code, e.Message, e.RequestID)
}

// Unwrap answers the *connect.Error that it was made from.
func (e *Error) Unwrap() error { return e.cause }

func newError(err error, requestID string) *Error {
	code := connect.CodeOf(err)
	e := &Error{Code: code, Reason: reasonOf(code), Message: err.Error(), RequestID: requestID, cause: err}
	var cause *connect.Error
	if !errors.As(err, &cause) {
		return e
	}
	e.Message = cause.Message()
	for _, detail := range cause.Details() {
		value, err := detail.Value()
		if err != nil {
			continue
		}
		switch value := value.(type) {
		case *errdetails.ErrorInfo:
			e.Reason, e.Metadata = value.GetReason(), value.GetMetadata()
		case *errdetails.RetryInfo:
			e.RetryDelay = value.GetRetryDelay().AsDuration()
		case *errdetails.BadRequest:
			for _, violation := range value.GetFieldViolations() {
				e.FieldViolations = append(e.FieldViolations, FieldViolation{violation.GetField(), violation.GetDescription()})
			}
		}
	}
	return e
}

// The name that the API gives a code, which has one more L in one of them than Connect's.
func reasonOf(code connect.Code) string {
	if code == connect.CodeCanceled {
		return "CANCELLED"
	}
	return strings.ToUpper(code.String())
}
