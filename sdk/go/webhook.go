package signpost

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// ErrWebhook is the error of a message that does not come from the service, or not now: answer it with status 400 and do
// nothing else.
var ErrWebhook = errors.New("signpost: the webhook's message is not genuine")

// webhookTolerance is how far the clocks of the service and the receiver may differ.
const webhookTolerance = 5 * time.Minute

// VerifyWebhook proves that the service signed a message with the secret ("whsec_…") within the last five minutes. The
// payload is the body exactly as it was received. A message may come more than once: its Webhook-Id stays the same.
func VerifyWebhook(payload []byte, headers http.Header, secret string) error {
	return verifyWebhookAt(payload, headers, secret, time.Now())
}

func verifyWebhookAt(payload []byte, headers http.Header, secret string, now time.Time) error {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil || len(key) == 0 {
		return errors.New("signpost: the secret must be whsec_ and base64")
	}
	id, timestamp := headers.Get("Webhook-Id"), headers.Get("Webhook-Timestamp")
	seconds, err := strconv.ParseUint(timestamp, 10, 40)
	if err != nil || id == "" {
		return ErrWebhook
	}
	if difference := now.Sub(time.Unix(int64(seconds), 0)); difference.Abs() > webhookTolerance {
		return ErrWebhook
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(payload)
	wanted := mac.Sum(nil)
	// While a secret is replaced there is a signature for each of both.
	for _, each := range strings.SplitN(headers.Get("Webhook-Signature"), " ", 16) {
		encoded, isVersion1 := strings.CutPrefix(each, "v1,")
		signature, err := base64.StdEncoding.DecodeString(encoded)
		if isVersion1 && err == nil && hmac.Equal(signature, wanted) {
			return nil
		}
	}
	return ErrWebhook
}
