// Package signpost is a client of the Signpost API. The generated messages and service interfaces are in
// signpost.example/signpost/v1; this package adds the token, safe retries, typed errors and paging.
package signpost

import (
	"context"
	"net/http"
	"time"

	"connectrpc.com/connect"
)

// Client has a field for every service, named without "Service": client.Links, client.WorkflowSteps.
type Client struct {
	Services
}

// Option sets something other than address and token.
type Option func(*settings)

type settings struct {
	httpClient  connect.HTTPClient
	timeout     time.Duration
	attemptsMax int
	wait        func(context.Context, time.Duration) error
}

// WithHTTPClient sends requests with another client than http.DefaultClient.
func WithHTTPClient(client connect.HTTPClient) Option {
	return func(s *settings) { s.httpClient = client }
}

// WithTimeout sets the most time of a call with all its tries, used when its context has no deadline.
func WithTimeout(timeout time.Duration) Option {
	return func(s *settings) { s.timeout = timeout }
}

// WithAttempts sets the most tries of a call; 1 means no retry.
func WithAttempts(most int) Option {
	return func(s *settings) { s.attemptsMax = most }
}

// NewClient connects to the service at baseURL with a workspace token, a member's session or an OAuth grant. With an
// empty token only the open calls work. Calls have 60 seconds and 4 tries unless options say otherwise.
func NewClient(baseURL, token string, options ...Option) *Client {
	s := settings{httpClient: http.DefaultClient, timeout: time.Minute, attemptsMax: 4, wait: wait}
	for _, option := range options {
		option(&s)
	}
	return &Client{newServices(s.httpClient, baseURL, connect.WithInterceptors(interceptor{retrying(token, s), token}))}
}

type idempotencyKey struct{}

// WithIdempotencyKey gives the calls of a context an idempotency key: repeated calls with the key, from any process,
// take effect once within 24 hours. Without it every call has a key of its own, which covers its retries.
func WithIdempotencyKey(ctx context.Context, key string) context.Context {
	return context.WithValue(ctx, idempotencyKey{}, key)
}
