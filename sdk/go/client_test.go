package signpost

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	v1 "signpost.example/signpost/v1"
)

// answers stands for the service: it gives one answer per request, and success after the last.
type answers struct {
	left []answer
	sent []http.Header
}

type answer struct {
	status int
	body   string
}

func (a *answers) Do(request *http.Request) (*http.Response, error) {
	a.sent = append(a.sent, request.Header.Clone())
	next, contentType := answer{status: http.StatusOK}, "application/proto"
	if len(a.left) > 0 {
		next, a.left, contentType = a.left[0], a.left[1:], "application/json"
	}
	if next.status == 0 {
		return nil, errors.New("connection refused")
	}
	return &http.Response{
		StatusCode: next.status,
		Header:     http.Header{"Content-Type": {contentType}},
		Body:       io.NopCloser(strings.NewReader(next.body)),
		Request:    request,
	}, nil
}

var away = answer{http.StatusServiceUnavailable, `{"code":"unavailable","message":"not now"}`}

// details is a google.rpc.RetryInfo.
func usedUp(details string) answer {
	return answer{http.StatusTooManyRequests, fmt.Sprintf(`{"code":"resource_exhausted","message":"used up","details":[%s]}`, details)}
}

const threeSeconds = `{"type":"google.rpc.RetryInfo","value":"CgIIAw"}`
const sixtySeconds = `{"type":"google.rpc.RetryInfo","value":"CgIIPA"}`

func newTestClient(service *answers) (*Client, *[]time.Duration) {
	waited := &[]time.Duration{}
	return NewClient("https://signpost.example", "secret", WithHTTPClient(service), func(s *settings) {
		s.wait = func(ctx context.Context, delay time.Duration) error {
			*waited = append(*waited, delay)
			return ctx.Err()
		}
	}), waited
}

func TestAStreamCarriesTheToken(t *testing.T) {
	service := &answers{left: []answer{away}}
	client, _ := newTestClient(service)
	stream, err := client.Assistant.StreamMessage(t.Context(), &v1.AssistantSendMessageRequest{})
	if err == nil {
		stream.Receive()
		err = stream.Close()
	}
	if got := service.sent[0].Get("Authorization"); got != "Bearer secret" {
		t.Errorf("sent %q, answered %v", got, err)
	}
}

func TestACallCarriesTheToken(t *testing.T) {
	service := &answers{}
	client, _ := newTestClient(service)
	if _, err := client.Links.List(t.Context(), &v1.ListLinksRequest{}); err != nil {
		t.Fatal(err)
	}
	if got := service.sent[0].Get("Authorization"); got != "Bearer secret" {
		t.Errorf("sent %q", got)
	}
}

func TestAWritingCallKeepsItsKeyThroughItsRetriesAndTwoCallsHaveTwo(t *testing.T) {
	service := &answers{left: []answer{away, {}}}
	client, _ := newTestClient(service)
	for range 2 {
		if _, err := client.Links.Create(t.Context(), &v1.CreateLinkRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	keys := keysOf(service)
	if len(keys) != 4 || keys[0] == "" || keys[0] != keys[1] || keys[1] != keys[2] || keys[2] == keys[3] {
		t.Errorf("sent %v", keys)
	}
}

func TestACallTakesTheKeyOfItsContext(t *testing.T) {
	service := &answers{}
	client, _ := newTestClient(service)
	if _, err := client.Links.Create(WithIdempotencyKey(t.Context(), "order 17"), &v1.CreateLinkRequest{}); err != nil {
		t.Fatal(err)
	}
	if keys := keysOf(service); !slices.Equal(keys, []string{"order 17"}) {
		t.Errorf("sent %v", keys)
	}
}

func TestCallsThatReadOrAreIdempotentByNatureHaveNoKey(t *testing.T) {
	service := &answers{}
	client, _ := newTestClient(service)
	_, listErr := client.Links.List(t.Context(), &v1.ListLinksRequest{})
	_, deleteErr := client.Links.Delete(t.Context(), &v1.DeleteLinkRequest{})
	if err := errors.Join(listErr, deleteErr); err != nil {
		t.Fatal(err)
	}
	if keys := keysOf(service); !slices.Equal(keys, []string{"", ""}) {
		t.Errorf("sent %v", keys)
	}
}

func TestAUsedUpLimitWaitsAsLongAsTheServiceAsks(t *testing.T) {
	client, waited := newTestClient(&answers{left: []answer{usedUp(threeSeconds)}})
	if _, err := client.Links.List(t.Context(), &v1.ListLinksRequest{}); err != nil {
		t.Fatal(err)
	}
	if len(*waited) != 1 || (*waited)[0] < 3*time.Second || (*waited)[0] > 3200*time.Millisecond {
		t.Errorf("waited %v", *waited)
	}
}

func TestWhatAnotherTryWouldNotHelpFailsAtOnce(t *testing.T) {
	invalid := answer{http.StatusBadRequest, `{"code":"invalid_argument","message":"no"}`}
	for _, refusal := range []answer{usedUp(""), usedUp(sixtySeconds), invalid} {
		service := &answers{left: []answer{refusal}}
		client, _ := newTestClient(service)
		_, err := client.Links.List(t.Context(), &v1.ListLinksRequest{})
		var typed *Error
		if !errors.As(err, &typed) || len(service.sent) != 1 {
			t.Errorf("%v after %d tries", err, len(service.sent))
		}
	}
}

func TestAServiceThatStaysAwayFailsAfterFourTriesWithLongerWaitsEachTime(t *testing.T) {
	service := &answers{left: []answer{away, away, away, away}}
	client, waited := newTestClient(service)
	_, err := client.Links.List(t.Context(), &v1.ListLinksRequest{})
	var typed *Error
	if !errors.As(err, &typed) || typed.Code != connect.CodeUnavailable || len(service.sent) != 4 {
		t.Fatalf("%v after %d tries", err, len(service.sent))
	}
	if typed.RequestID == "" || typed.RequestID != service.sent[0].Get("X-Request-Id") {
		t.Errorf("request id %q", typed.RequestID)
	}
	for i, most := range []time.Duration{200, 400, 800} {
		if got := (*waited)[i]; got < most*time.Millisecond/2 || got > most*time.Millisecond {
			t.Errorf("wait %d was %v", i, got)
		}
	}
}

func TestNoTryStartsAfterTheCallsTimeIsOver(t *testing.T) {
	service := &answers{left: []answer{away}}
	client, _ := newTestClient(service)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := client.Links.List(ctx, &v1.ListLinksRequest{})
	if connect.CodeOf(err) != connect.CodeUnavailable || len(service.sent) != 1 {
		t.Errorf("%v after %d tries", err, len(service.sent))
	}
}

func TestACallThatIsGivenUpWhileItWaitsIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	client := NewClient("https://signpost.example", "", WithHTTPClient(&answers{left: []answer{away}}), func(s *settings) {
		s.wait = func(ctx context.Context, delay time.Duration) error {
			cancel()
			return wait(ctx, delay)
		}
	})
	_, err := client.Links.List(ctx, &v1.ListLinksRequest{})
	var typed *Error
	if !errors.As(err, &typed) || typed.Code != connect.CodeCanceled || typed.Reason != "CANCELLED" {
		t.Errorf("answered %v", err)
	}
}

func TestItemsFollowTheCursorToTheEndAlsoWhereItStandsInTheAnswersForm(t *testing.T) {
	var asked []string
	list := func(_ context.Context, request *v1.ListEventsRequest) (*v1.ListEventsResponse, error) {
		asked = append(asked, request.GetPageToken())
		next := fmt.Sprintf("after %d", len(asked))
		if len(asked) == 3 {
			next = ""
		}
		events := []*v1.Event{{Id: fmt.Sprint(len(asked))}}
		return &v1.ListEventsResponse{Json: &v1.ListEventsJsonResponse{Events: events, NextPageToken: next}}, nil
	}
	var ids []string
	pick := func(page *v1.ListEventsResponse) []*v1.Event { return page.GetJson().GetEvents() }
	for event, err := range Items(t.Context(), list, &v1.ListEventsRequest{}, pick) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, event.GetId())
	}
	if !slices.Equal(ids, []string{"1", "2", "3"}) || !slices.Equal(asked, []string{"", "after 1", "after 2"}) {
		t.Errorf("items %v, asked %q", ids, asked)
	}
}

func keysOf(service *answers) []string {
	var keys []string
	for _, header := range service.sent {
		keys = append(keys, header.Get("Idempotency-Key"))
	}
	return keys
}
