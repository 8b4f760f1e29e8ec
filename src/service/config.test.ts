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
