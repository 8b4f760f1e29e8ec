import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { type ParsedMail, simpleParser } from "mailparser";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { afterAll, vi } from "vitest";

export interface ReceivedMail {
  readonly raw: string;
  readonly mail: ParsedMail;
  readonly recipients: readonly string[];
}

export interface MailServer {
  /** For `SMTP_URL`. */
  readonly url: string;
  /** Every mail that was received, also those that were then refused. */
  readonly mails: readonly ReceivedMail[];
  /** Answers the next mails, in this order, as the mails' senders are told; later ones are taken. */
  answerNext(...answers: readonly MailAnswer[]): void;
  /** Forgets the mails. */
  clear(): void;
  /** The first mail to an address that fits, once it is there. */
  mailTo(address: string, subject?: RegExp): Promise<ReceivedMail>;
}

/** The code of a refusal, or a promise to wait for before the mail is taken. */
export type MailAnswer = number | Promise<unknown>;

/** A real mail server, until the test file ends. */
export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const mails: ReceivedMail[] = [];
  const answers: MailAnswer[] = [];
  const server = new SMTPServer({
    disabledCommands: ["STARTTLS"],
    authOptional: true,
    disableReverseLookup: true,
    logger: false,
    onData(stream, { envelope }, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", async () => {
        const raw = Buffer.concat(chunks).toString();
        const mail = await simpleParser(raw);
        mails.push({ raw, mail, recipients: envelope.rcptTo.map(({ address }) => address) });
        const answer = answers.shift();
        if (typeof answer === "number")
          return done(Object.assign(new Error("no <ada@example.com> here"), { responseCode: answer }));
        await answer;
        done();
      });
    },
    ...options,
  });
  // Clients that are killed break their connections.
  server.on("error", () => {});
  const listening = server.listen(0, "127.0.0.1");
  await once(listening, "listening");
  afterAll(() => new Promise<void>((resolve) => server.close(resolve)));
  const { port } = listening.address() as AddressInfo; // it listens on a port
  return {
    url: `smtp://127.0.0.1:${port}`,
    mails,
    answerNext: (...next) => void answers.push(...next),
    clear: () => void mails.splice(0),
    mailTo: (address, subject = /./) =>
      vi.waitFor(
        () => {
          const found = mails.find(
            ({ mail, recipients }) => recipients.includes(address) && subject.test(mail.subject ?? ""),
          );
          if (found === undefined) throw new Error(`no mail to ${address} yet`);
          return found;
        },
        { timeout: 20_000, interval: 20 },
      ),
  };
}
