package signpost

import (
	"encoding/base64"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Every line of the file is a message that the service signed, or one that somebody forged.
func TestVerifyWebhook(t *testing.T) {
	file, err := os.ReadFile("../webhook-vectors.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(file)), "\n")[1:] {
		part := strings.Split(line, "\t")
		payload, err := base64.StdEncoding.DecodeString(part[5])
		if err != nil {
			t.Fatal(err)
		}
		seconds, err := strconv.ParseInt(part[6], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		headers := http.Header{}
		headers.Set("webhook-id", part[2])
		headers.Set("webhook-timestamp", part[3])
		headers.Set("webhook-signature", part[4])
		genuine := verifyWebhookAt(payload, headers, part[1], time.Unix(seconds, 0)) == nil
		if genuine != (part[7] == "genuine") {
			t.Errorf("%s: genuine is %v", part[0], genuine)
		}
	}
}
