import { guidePage } from "./guide-page.ts";

const connecting = `# 1. Ask for an address, and open it in a browser.
curl -s "$SIGNPOST_URL/v1/google-forms-integrations/oauth-url" -H "Authorization: Bearer $SIGNPOST_TOKEN"

# 2. Google sends the browser back with a code and the state. Bring both within ten minutes, with the same token.
curl -s "$SIGNPOST_URL/v1/google-forms-integrations/oauth/complete" -H "Authorization: Bearer $SIGNPOST_TOKEN" \\
  -H 'Content-Type: application/json' -d '{"code":"…","state":"…"}'
`;

const prefilled = `https://docs.google.com/forms/d/FORM_ID/viewform?usp=pp_url&entry.123456789={{lbid}}`;

const syncing = `curl -s -X POST "$SIGNPOST_URL/v1/google-forms-integrations/sync" -H "Authorization: Bearer $SIGNPOST_TOKEN" \\
  -H 'Content-Type: application/json' -d '{}'
`;

/** How responses of Google Forms become attributes of visitors. */
export const googleFormsGuide = guidePage("Google Forms", [
  `A workspace can be connected to one Google account. The service finds the forms that redirects of its links lead to,
fetches their responses every 15 minutes, and saves the answers as attributes of the visitors who gave them.`,
  { heading: "Connect an account" },
  { language: "sh", code: connecting },
  `The person must leave both permissions ticked: to see forms, and to see their responses. The service changes nothing at
Google.`,
  { heading: "Lead to a form" },
  `Let a redirect lead to <code>https://docs.google.com/forms/d/FORM_ID/viewform</code>, with the id from the address of the
form's editor. The address that Google offers for sending, <code>/forms/d/e/…</code> or <code>forms.gle/…</code>, does not
contain the id, and Google tells it nobody. Such a form is listed, and fetched only when the service has read the same form
by its id before.`,
  { heading: "Tell the form who answers" },
  `Add a question for a short text to the form, in a section that nobody reaches. Choose <em>Get pre-filled link</em> in the
form's menu, answer that question with <code>{{lbid}}</code>, and take the number of the question from the link:`,
  { language: "text", code: prefilled },
  `Switch conversion tracking on for the redirect. The service puts the id of the visit in the place of
<code>{{lbid}}</code>, and a response with that id belongs to the visitor of the visit. Without such an answer, a response
belongs to the visitor whose <code>$email</code> is the address that Google asked for, or else the first answer that is an
address. Other responses are counted, and saved to nobody.`,
  { heading: "What is saved" },
  `The key of an attribute is the question's title in lower case, with <code>_</code> between words: <em>What is your
size?</em> becomes <code>what_is_your_size</code>. Of questions with one title, the second has <code>_2</code> at its end.
Scales and ratings are numbers, choices are enums joined by commas, dates with a year are dates, and all other answers are
texts of at most 4,096 bytes. An edited response is saved again. Nothing overwrites a value that is newer than the response,
and no answer changes <code>$email</code>, <code>$phone</code> or a name.`,
  { heading: "Fetch now" },
  { language: "sh", code: syncing },
  `The answer says how many responses this run has fetched, and how many of them belong to a visitor. A run ends after 20
seconds, and the service goes on with the rest.`,
  { heading: "When it stops" },
  `<code>lastError</code> of the integration says what keeps responses from being fetched. After
<code>GOOGLE_FORMS_INTEGRATION_STATUS_DISCONNECTED</code> connect the account again: Google has ended the access, because
the person took it back or changed the password. Paused integrations are not fetched. Deleting the integration ends the
access at Google, and visitors keep their attributes.`,
  { heading: "For operators" },
  `Make an OAuth client of the kind <em>Web application</em> in the Google Cloud console, with the Forms API switched on and the
redirect address <code>BASE_URL/docs/connected</code>, or your own in <code>OAUTH_RETURN_URL</code>. Set
<code>GOOGLE_CLIENT_ID</code> and <code>GOOGLE_CLIENT_SECRET</code>. The consent screen needs the scopes
<code>openid</code>, <code>email</code>, <code>forms.body.readonly</code> and <code>forms.responses.readonly</code>.`,
]);
