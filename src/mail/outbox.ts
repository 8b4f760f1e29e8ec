import { opendir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { SendMailOptions } from "nodemailer";
import { writeDurably } from "../lib/storage/storage-local.ts";
import type { Message } from "./compose.ts";

/** Where mails go: to a mail server, or into a folder. */
export interface Outbox {
  /**
   * Hands a mail over. Gives the path of the file in which it is kept, or undefined when a mail server took it. Throws
   * `Refused` when the server will never take it, and any other error when it may take it later.
   */
  deliver(mailId: string, message: Message, signal: AbortSignal): Promise<string | undefined>;
}

/** A mail server refused a mail for good. */
export class Refused extends Error {
  override readonly name = "Refused";
}

/** How long a whole conversation with the mail server may take, in milliseconds. */
const conversationMs = 60_000;

/** How long no mail is tried after one met a server that is away, in milliseconds. */
const pauseMs = 30_000;

const awayCodes: ReadonlySet<string> = new Set(["ECONNECTION", "EDNS", "ESOCKET", "ETIMEDOUT", "EABORT"]);

/**
 * Sends by SMTP, one connection for each mail. The query of the address may set the options of nodemailer. While the server
 * is away, most mails fail at once, so that the jobs beside them need not wait.
 */
export function smtpOutbox(smtpUrl: string, now: () => Date): Outbox {
  let awayUntil = 0;
  return {
    async deliver(_mailId, message, signal) {
      if (now().getTime() < awayUntil) throw new Error("the mail server is away");
      // The library is loaded with the first mail.
      const { createTransport } = await import("nodemailer");
      const transport = createTransport({
        connectionTimeout: 10_000,
        dnsTimeout: 10_000,
        greetingTimeout: 10_000,
        socketTimeout: 30_000,
        // Nobody between may read a password; the address can say `?requireTLS=false`.
        requireTLS: new URL(smtpUrl).username !== "",
        url: smtpUrl,
      });
      try {
        await transport.sendMail({
          ...optionsOf(message),
          signal: AbortSignal.any([signal, AbortSignal.timeout(conversationMs)]),
        });
      } catch (error) {
        const failure = failureOf(error);
        if (awayCodes.has(failure.code) && !signal.aborted) awayUntil = now().getTime() + pauseMs;
        throw describedFailure(failure);
      } finally {
        transport.close();
      }
      return undefined;
    },
  };
}

/** Keeps each mail as a file that only the service's own user can read. The same mail is kept once. */
export function folderOutbox(folder: string): Outbox {
  return {
    async deliver(mailId, message) {
      const { createTransport } = await import("nodemailer");
      const transport = createTransport({ streamTransport: true, buffer: true, newline: "windows" });
      const { message: bytes } = await transport.sendMail(optionsOf(message));
      const path = join(folder, `${mailId}.eml`);
      await writeDurably(folder, path, bytes as Buffer); // `buffer` says so
      return path;
    },
  };
}

function optionsOf({ envelope, ...message }: Message): SendMailOptions {
  return {
    ...message,
    // As objects, so that nobody reads a list of addresses into the text of one.
    envelope: {
      from: { name: "", address: envelope.from },
      to: envelope.to.map((address) => ({ name: "", address })),
    },
    // Nothing in a mail names a file or an address to read.
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

interface Failure {
  readonly code: string;
  readonly responseCode: number | undefined;
  readonly permanent: boolean;
  /** The SMTP command that the server answered. */
  readonly command: string | undefined;
}

function failureOf(error: unknown): Failure {
  const { code = "", responseCode, permanent = false, command } = error as Partial<Failure>;
  return { code, responseCode, permanent, command };
}

/**
 * What the mail server said, as an error for the log and the queue. Its own words are left out, because they repeat
 * people's addresses. Only a refusal of the recipient or of the text ends a mail. The operator can put a wrong password or a
 * refused sender right, and the mail then goes out.
 */
function describedFailure({ code, responseCode, permanent, command }: Failure): Error {
  const message = `the mail server did not take the mail: ${code} ${responseCode ?? ""}`.trimEnd();
  const isOfMail = code === "EMESSAGE" || (code === "EENVELOPE" && command === "RCPT TO");
  return permanent && isOfMail ? new Refused(message) : new Error(message);
}

/** How long mails are kept in a folder, in milliseconds: 30 days. */
const keptMs = 30 * 24 * 60 * 60 * 1000;

/** Deletes mails that were kept longer than 30 days, and what a crash left of them. */
export async function deleteOldKeptMails(folder: string, now: Date): Promise<void> {
  const directory = await opendir(folder).catch(() => undefined);
  if (directory === undefined) return;
  for await (const { name } of directory) {
    const path = join(folder, name);
    const changed = await stat(path).catch(() => undefined);
    const isOurs = name.endsWith(".eml") || name.endsWith(".part");
    if (isOurs && changed !== undefined && now.getTime() - changed.mtimeMs > keptMs)
      await rm(path, { force: true });
  }
}
