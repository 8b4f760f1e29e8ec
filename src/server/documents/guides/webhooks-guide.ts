import { guidePage } from "./guide-page.ts";

const typescriptReceiver = `import { createServer } from "node:http";
import { env } from "node:process";
import { verifyWebhook, WebhookVerificationError } from "signpost-client";

const secret = env.SIGNPOST_WEBHOOK_SECRET ?? "";
const seen = new Set<string>();

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    const message = await verifyWebhook(Buffer.concat(chunks), request.headers, secret);
    response.writeHead(204).end();
    // A message may come again; its id stays the same.
    const id = String(request.headers["webhook-id"]);
    if (seen.has(id)) return;
    seen.add(id);
    console.log(message.type, JSON.stringify(message.data));
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    response.writeHead(400).end(error.message);
  }
});
server.listen(Number(env.PORT ?? 3000));
`;

const pythonReceiver = `import json
import os
from http.server import BaseHTTPRequestHandler, HTTPServer

from signpost import WebhookVerificationError, verify_webhook

SECRET = os.environ["SIGNPOST_WEBHOOK_SECRET"]
seen = set()


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        payload = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            message = verify_webhook(payload, self.headers, SECRET)
        except WebhookVerificationError as error:
            self.send_error(400, str(error))
            return
        self.send_response(204)
        self.end_headers()
        # A message may come again; its id stays the same.
        if self.headers["webhook-id"] not in seen:
            seen.add(self.headers["webhook-id"])
            print(message["type"], json.dumps(message["data"]), flush=True)


HTTPServer(("", int(os.environ.get("PORT", "3000"))), Receiver).serve_forever()
`;

const example = `POST /hooks/signpost HTTP/1.1
content-type: application/json
webhook-id: msg_0199e6f0-…_0199e6a1-…
webhook-timestamp: 1790000000
webhook-signature: v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=

{"type":"workflow_step.completed","timestamp":"2026-09-21T14:13:20Z","data":{
  "event":{…},"trace":{…},"step":{"id":"…","kind":"KIND_INTERACTION","eventAction":"EVENT_ACTION_FORM_SUBMIT"},
  "link":{"id":"…","name":"Menu","shortlink":"menu","entrypoint":"…","tags":[],"metadata":{}},
  "visitor":{…},"device":{…},"lbid":"…"}}
`;

const commands = `curl $URL/v1/webhooks -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
  -d '{"name":"CRM","endpointUrl":"https://example.com/hooks/signpost"}'
`;

const operations = `curl -X POST $URL/v1/webhooks/$ID:test -H "Authorization: Bearer $TOKEN"
curl "$URL/v1/webhooks/$ID/deliveries?status=WEBHOOK_DELIVERY_STATUS_EXHAUSTED" -H "Authorization: Bearer $TOKEN"
curl -X POST $URL/v1/webhooks/$ID/deliveries/$DELIVERY:resend -H "Authorization: Bearer $TOKEN"
curl $URL/v1/webhooks/$ID:replay -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \\
  -d '{"since":"2026-09-21T00:00:00Z"}'
`;

/** How to receive messages about completed steps. The programs in it are run by a test. */
export const webhooksGuide = guidePage("Webhooks", [
  `Signpost posts a signed message to your server for every workflow step that a visitor completes. Visits of bots and AI
agents send none.`,
  { heading: "Make a webhook" },
  `The answer holds <code>signingSecret</code>, which is shown this once: keep it beside your receiver. A webhook can be
narrowed to a link by <code>linkId</code> and to kinds of steps by <code>triggers</code>.`,
  { code: commands, language: "sh" },
  `The address begins with https and leads to the public Internet; sandboxes may use http. Redirects are not followed.`,
  { heading: "What arrives" },
  { code: example, language: "http" },
  `A message may come more than once, and messages may come in any order. <code>webhook-id</code> is the same in every
attempt: remember it to do the work once.`,
  { heading: "Verify before you trust" },
  `Messages are signed as <a href="https://www.standardwebhooks.com">Standard Webhooks</a> says, so that any library of
that standard verifies them, too. Give the verification the body exactly as it came, before anything parses it. Our
packages have <code>verifyWebhook</code> in five languages; this receiver uses the TypeScript one:`,
  { code: typescriptReceiver, language: "ts" },
  `The same in Python:`,
  { code: pythonReceiver, language: "python" },
  { heading: "Answer first, work later" },
  `Any status from 200 to 299 within 15 seconds accepts a message. Otherwise it is sent again after about 5 seconds, 5 and
30 minutes, 2, 5, 10, 14, 20 and 24 hours. With 429 or 503, <code>Retry-After</code> says how long to wait. With 410 the
webhook stops at once. After five days of failures only, or 100 messages that nobody accepted, it is disabled and the
administrators get a mail; set its status to <code>WEBHOOK_STATUS_ACTIVE</code> to begin again.`,
  { heading: "A new secret" },
  `PATCH the webhook with <code>{"rotateSecret":true}</code>. For 24 hours each message carries two signatures, of the new
secret and of the one before, so that receivers can change over without losing any.`,
  { heading: "When something is missing" },
  `<code>lastError</code> of the webhook says what to mend. The messages of 30 days can be read with every attempt, and sent
again: one by one, or all that were missed since a time.`,
  { code: operations, language: "sh" },
  `While you write your receiver, <code>signpost webhooks listen --forward-to http://localhost:3000</code> brings the
workspace's messages to your own machine. It prints the secret that signs them.`,
]);
