package signpost

import (
	"context"
	"crypto/rand"
	"errors"
	"math"
	mathrand "math/rand/v2"
	"net/http"
	"time"

	"connectrpc.com/connect"
)

const (
	firstDelay = 200 * time.Millisecond
	delayMax   = 10 * time.Second
	// A longer wait, such as for a month's quota, is reported to the caller at once.
	askedDelayMax = 30 * time.Second
)

// interceptor repeats calls, and gives streams the token; a stream is not repeated.
type interceptor struct {
	connect.UnaryInterceptorFunc
	token string
}

// WrapStreamingClient replaces the one of UnaryInterceptorFunc, which leaves streams as they are.
func (i interceptor) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return func(ctx context.Context, spec connect.Spec) connect.StreamingClientConn {
		stream := next(ctx, spec)
		identify(stream.RequestHeader(), i.token)
		return stream
	}
}

// retrying adds the token and an idempotency key to calls, repeats them, and makes them fail with *Error.
func retrying(token string, s settings) connect.UnaryInterceptorFunc {
	return func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, request connect.AnyRequest) (connect.AnyResponse, error) {
			if _, ok := ctx.Deadline(); !ok {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, s.timeout)
				defer cancel()
			}
			prepare(ctx, request, token)
			for attempt := 1; ; attempt++ {
				response, err := next(ctx, request)
				if err == nil {
					return response, nil
				}
				failure := newError(err, request.Header().Get("X-Request-Id"))
				delay, ok := retryDelay(failure, attempt)
				if !ok || attempt >= s.attemptsMax || ctx.Err() != nil || endsWithin(ctx, delay) {
					return nil, failure
				}
				if err := s.wait(ctx, delay); err != nil {
					return nil, newError(contextError(err), failure.RequestID)
				}
			}
		}
	}
}

func prepare(ctx context.Context, request connect.AnyRequest, token string) {
	header := request.Header()
	identify(header, token)
	// Calls without a declared idempotency level write something new each time; the service replays the answer of a known
	// key.
	if request.Spec().IdempotencyLevel != connect.IdempotencyUnknown || header.Get("Idempotency-Key") != "" {
		return
	}
	key, ok := ctx.Value(idempotencyKey{}).(string)
	if !ok {
		key = rand.Text()
	}
	header.Set("Idempotency-Key", key)
}

// identify names the caller by the token, and the call by an id for the service's log.
func identify(header http.Header, token string) {
	if token != "" && header.Get("Authorization") == "" {
		header.Set("Authorization", "Bearer "+token)
	}
	if header.Get("X-Request-Id") == "" {
		header.Set("X-Request-Id", rand.Text())
	}
}

// retryDelay returns the wait before the next try, and whether a next try would help.
func retryDelay(err *Error, attempt int) (time.Duration, bool) {
	switch err.Code {
	case connect.CodeUnavailable, connect.CodeDeadlineExceeded:
		return err.RetryDelay + backoff(attempt), true
	case connect.CodeResourceExhausted, connect.CodeAborted:
		return err.RetryDelay + backoff(attempt), err.RetryDelay > 0 && err.RetryDelay <= askedDelayMax
	default:
		return 0, false
	}
}

// backoff doubles with each try. Half of it is random, which spreads clients that failed together.
func backoff(attempt int) time.Duration {
	delay := min(float64(delayMax), float64(firstDelay)*math.Pow(2, float64(attempt-1)))
	return time.Duration(delay * (0.5 + mathrand.Float64()/2))
}

func endsWithin(ctx context.Context, delay time.Duration) bool {
	deadline, ok := ctx.Deadline()
	return ok && time.Until(deadline) <= delay
}

func wait(ctx context.Context, delay time.Duration) error {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

func contextError(err error) *connect.Error {
	if errors.Is(err, context.DeadlineExceeded) {
		return connect.NewError(connect.CodeDeadlineExceeded, err)
	}
	return connect.NewError(connect.CodeCanceled, err)
}
