import { randomUUID } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { simpleParser } from "mailparser";
import { expect, onTestFinished, test } from "vitest";
import { startMailServer } from "./support/mail-server.ts";
import { eventually, type Service, startService } from "./support/start-service.ts";

async function invite({ baseUrl, credentials }: Service): Promise<string> {
  const email = `${randomUUID()}@example.com`;
  const answer = await fetch(`${baseUrl}/v1/members/invite`, {
    method: "POST",
    headers: { authorization: `Bearer ${credentials.accessToken}`, "content-type": "application/json" },
    body: JSON.stringify({ email }),
  });
  expect(answer.status).toBe(200);
  return email;
}

test("a mail that kill -9 cut off is sent again as the same one, and without a mail server it is a file", async () => {
  const server = await startMailServer();
  const env = { SMTP_URL: server.url, MAIL_FROM: "Signs <signs@example.com>" };
  const service = await startService({ env });
  let running = service;
  onTestFinished(() => running.stop());

  // The server has read the mail, and has not yet answered.
  server.answerNext(new Promise(() => {}));
  const email = await invite(service);
  const { mail } = await server.mailTo(email);
  expect(mail.from?.value).toEqual([{ name: "Signs", address: "signs@example.com" }]);
  expect(mail.text).toContain(`${service.baseUrl}/auth/invitation?challenge=`);
  await service.kill("SIGKILL");
  running = await service.restart();
  const again = await eventually(
    async () => server.mails.map((each) => each.mail.messageId),
    (ids) => ids.length > 1,
    60_000,
  );
  expect(again).toEqual([mail.messageId, mail.messageId]);

  await running.kill("SIGTERM");
  running = await running.restart({ SMTP_URL: "" });
  const kept = await invite(running);
  const folder = join(running.dataDir, "mail");
  const [line] = await eventually(
    async () => running.log().filter(({ msg }) => msg?.startsWith("a mail was kept as a file")),
    (lines) => lines.length > 0,
  );
  const [name = ""] = await readdir(folder);
  expect(line).toMatchObject({ file: join(folder, name), kind: "invitation" });
  expect((await simpleParser(await readFile(join(folder, name)))).to).toMatchObject({
    value: [{ address: kept }],
  });
  expect(server.mails).toHaveLength(2);
}, 120_000);
