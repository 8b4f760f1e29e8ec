import { expect, test } from "vitest";
import { readConfig } from "./config.ts";

const from = (address: string, name = "") => ({ name, address });

test.each([
  [{}, { smtpUrl: undefined, from: from("signpost@localhost", "Signpost") }],
  [{ BASE_URL: "https://go.example.com/x" }, { from: from("signpost@go.example.com", "Signpost") }],
  [{ MAIL_FROM: "a@example.com" }, { from: from("a@example.com") }],
  [{ MAIL_FROM: "Café, Inc. <a@example.com>" }, { from: from("a@example.com", "Café, Inc.") }],
  [
    { SMTP_URL: "smtps://me:secret@mail.example.com:465?x=y" },
    { smtpUrl: "smtps://me:secret@mail.example.com:465?x=y" },
  ],
])("the settings %j say how mails are sent", (env, mail) => {
  expect(readConfig(env).mail).toMatchObject(mail);
});

test.each([
  [{ MAIL_FROM: "nobody" }, "MAIL_FROM"],
  [{ MAIL_FROM: "a@example.com, b@example.com" }, "MAIL_FROM"],
  [{ MAIL_FROM: "A\u000dBcc: <a@example.com>" }, "MAIL_FROM"],
  [{ SMTP_URL: "https://secret.example.com" }, "SMTP_URL"],
  [{ SMTP_URL: "mail.secret.com:25" }, "SMTP_URL"],
  [{ SMTP_URL: "smtp://" }, "SMTP_URL"],
])("the settings %j are refused by name, without a password in the message", (env, name) => {
  const message = `wrong configuration:\n  ${name}: an address such as `;
  expect(() => readConfig(env)).toThrow(message);
  expect(() => readConfig(env)).not.toThrow("secret");
});

const app = { SLACK_CLIENT_ID: "1.2", SLACK_CLIENT_SECRET: "hidden" };
const keys = { clientId: "1.2", clientSecret: "hidden" };

test.each([
  [{}, { apiUrl: "https://slack.com/api", app: undefined }],
  [app, { apiUrl: "https://slack.com/api", app: keys }],
  [
    { ...app, SLACK_API_URL: "https://slack-gov.com/api/" },
    { apiUrl: "https://slack-gov.com/api", app: keys },
  ],
])("the settings %j say which app of Slack people connect", (env, slack) => {
  expect(readConfig(env).slack).toEqual(slack);
});

const client = { GOOGLE_CLIENT_ID: "client.example", GOOGLE_CLIENT_SECRET: "hidden" };

test.each([
  [{}, undefined],
  [
    client,
    {
      clientId: "client.example",
      clientSecret: "hidden",
      accountsUrl: "https://accounts.google.com",
      oauthUrl: "https://oauth2.googleapis.com",
      formsUrl: "https://forms.googleapis.com",
    },
  ],
  [{ ...client, GOOGLE_FORMS_URL: "http://127.0.0.1:9/" }, { formsUrl: "http://127.0.0.1:9" }],
])("the settings %j say which client of Google reads forms", (env, google) => {
  if (google === undefined) expect(readConfig(env).google).toBeUndefined();
  else expect(readConfig(env).google).toMatchObject(google);
});

test.each([
  [{ SLACK_CLIENT_ID: "1.2" }, "SLACK_CLIENT_ID and SLACK_CLIENT_SECRET: both or neither"],
  [{ SLACK_CLIENT_SECRET: "hidden" }, "SLACK_CLIENT_ID and SLACK_CLIENT_SECRET: both or neither"],
  [{ ...app, SLACK_API_URL: "slack.com" }, "SLACK_API_URL: an address such as"],
  [{ GOOGLE_CLIENT_ID: "1.2" }, "GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET: both or neither"],
  [{ GOOGLE_CLIENT_SECRET: "hidden" }, "GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET: both or neither"],
  [{ ...client, GOOGLE_OAUTH_URL: "oauth2" }, "GOOGLE_OAUTH_URL: an address such as"],
  [{ OAUTH_RETURN_URL: "javascript:alert(1)" }, "OAUTH_RETURN_URL: an address such as"],
])("the settings %j of integrations are refused by name, without the secret", (env, message) => {
  expect(() => readConfig(env)).toThrow(message);
  expect(() => readConfig(env)).not.toThrow("hidden");
});

test("networks and proxies for requests to customers' addresses are read in capitals and in small letters", () => {
  const { allowedPrivateNetworks, proxies } = readConfig({
    ALLOWED_PRIVATE_NETWORKS: "10.1.0.0/16, ::1",
    HTTPS_PROXY: "http://proxy.example.com:3128",
    http_proxy: "http://other.example.com",
    no_proxy: "localhost,.example.com",
  });
  expect(allowedPrivateNetworks).toEqual(["10.1.0.0/16", "::1"]);
  expect(proxies.https?.href).toBe("http://proxy.example.com:3128/");
  expect(proxies.http?.href).toBe("http://other.example.com/");
  expect(proxies.except).toEqual(["localhost", ".example.com"]);
  expect(readConfig({}).proxies).toEqual({ https: undefined, http: undefined, except: [] });
});

test.each([
  [{ ALLOWED_PRIVATE_NETWORKS: "10.1.0.0/99" }, "ALLOWED_PRIVATE_NETWORKS: networks such as 10.1.0.0/16"],
  [{ HTTPS_PROXY: "me:secret@proxy" }, "HTTPS_PROXY: an address such as http://proxy.example.com:3128"],
])("the settings %j are refused by name, without what may be a password", (env, message) => {
  expect(() => readConfig(env)).toThrow(message);
  expect(() => readConfig(env)).not.toThrow("secret");
});

const authority = "https://ca.example/acme/directory/";
const other = "https://ca.example/2";

test.each([
  [{}, undefined, undefined],
  [{ ACME_DIRECTORY: authority }, { directories: [authority], email: undefined }, undefined],
  [
    { ACME_DIRECTORY: authority, ACME_DIRECTORY_2: other, ACME_EMAIL: "a@example.com", HTTP_PORT: "80" },
    { directories: [authority, other], email: "a@example.com" },
    80,
  ],
])("the settings %j say where certificates come from", (env, acme, httpPort) => {
  const config = readConfig(env);
  if (acme === undefined) expect(config.acme).toBeUndefined();
  else expect(config.acme).toMatchObject(acme);
  expect(config.httpPort).toBe(httpPort);
});

test.each([
  [{ ACME_DIRECTORY: "ca.example" }, "ACME_DIRECTORY: an address such as https://"],
  [{ ACME_DIRECTORY: "http://ca.example/directory" }, "ACME_DIRECTORY: an address such as https://"],
  [{ ACME_DIRECTORY_2: authority }, "ACME_DIRECTORY: required with ACME_DIRECTORY_2"],
  [{ HTTP_PORT: "80" }, "HTTP_PORT: only where PORT speaks TLS"],
])("the settings %j for certificates are refused by name", (env, message) => {
  expect(() => readConfig(env)).toThrow(message);
});

test.each([
  [{}, undefined],
  [
    { FIREBASE_PROJECT_ID: "shop-1a2b" },
    { projectId: "shop-1a2b", keysUrl: expect.stringContaining("securetoken") },
  ],
  [
    { FIREBASE_PROJECT_ID: "shop", FIREBASE_KEYS_URL: "http://localhost:9/keys" },
    { projectId: "shop", keysUrl: "http://localhost:9/keys" },
  ],
])("the settings %j say whose sign-ins with Google or Microsoft count", (env, wanted) => {
  expect(readConfig(env).federated).toEqual(wanted);
});

test.each(["Shop", "a b", "../x"])("the project %j is refused", (id) => {
  expect(() => readConfig({ FIREBASE_PROJECT_ID: id })).toThrow("FIREBASE_PROJECT_ID: the id of a project");
});

test("agents may register unless the operator says otherwise", () => {
  expect(readConfig({}).registersAgents).toBe(true);
  expect(readConfig({ AGENT_REGISTRATION: "off" }).registersAgents).toBe(false);
});
