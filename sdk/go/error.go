package signpost

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
)

// Error is the error of every failed call, whether the service refused it or could not be reached. Read it with
// errors.As; connect.CodeOf works on it as well.
type Error struct {
	// Code is the kind of failure.
	Code connect.Code
	// Reason is the precise cause, such as SHORTLINK_TAKEN, or the code's name if the service gave no reason.
	Reason  string
	Message string
	// Metadata holds facts about the reason, such as the missing scope.
	Metadata map[string]string
	// FieldViolations lists every refused field of an invalid argument.
	FieldViolations []FieldViolation
	// RetryDelay is the wait that the service asks for before another try; 0 when it names none.
	RetryDelay time.Duration
	// RequestID finds the call in the service's log.
	RequestID string

	cause error
}

// FieldViolation is one refused field.
type FieldViolation struct {
	// Field is its path in JSON names, such as links[3].destination.
	Field string
	// Description says what is wrong and how to mend it.
	Description string
}

func (e *Error) Error() string {
	return fmt.Sprintf("signpost: %s: %s (request %s)", e.Code, e.Message, e.RequestID)
}

// Unwrap returns the *connect.Error behind the error.
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

// reasonOf returns the API's name of a code; one name has one L more than Connect's.
func reasonOf(code connect.Code) string {
	if code == connect.CodeCanceled {
		return "CANCELLED"
	}
	return strings.ToUpper(code.String())
}
