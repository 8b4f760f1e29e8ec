import type { DescField, DescMessage, Message } from "@bufbuild/protobuf";
import type { AnswerHeaders, Outcome } from "../rpc/call.ts";
import { errorBody } from "./error-body.ts";
import type { RestResponse } from "./respond.ts";
import type { Json } from "./write-message.ts";

/** How the answer of a method is told in parts. */
export interface Parts {
  readonly part: DescMessage;
  /** The field of the last part that holds the whole answer. */
  readonly answerField: DescField;
}

/** An answer in parts, as server-sent events (WHATWG HTML, 9.2). */
export interface EventStream {
  /** Sends a part at once. */
  readonly tell: (part: Message) => void;
  /** Ends the stream with the whole answer, or with the error in the form of a body. False when nothing was told before an error. */
  end(outcome: Outcome, writeAnswer: (answer: Message) => Json): boolean;
}

/** Whether a client asks for events: as the type that it wants first. */
export function acceptsEvents(accept: string | undefined): boolean {
  const [first = ""] = (accept ?? "").split(",", 1);
  return /^\s*text\/event-stream\s*(?:;|$)/i.test(first);
}

/** Opens a stream, whose headers are sent with its first part. A refusal before it is an ordinary answer. */
export function eventStream(
  res: RestResponse,
  { answerField }: Parts,
  { requestId, writePart }: { readonly requestId: string; readonly writePart: (part: Message) => Json },
): EventStream {
  const begin = (headers: AnswerHeaders) => {
    if (res.headersSent) return;
    const told = {
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      // Proxies that keep an answer until it is whole let this one pass.
      "x-accel-buffering": "no",
      "x-request-id": requestId,
      ...headers,
    };
    // The two types of `res` have no common signature of writeHead.
    if ("stream" in res) res.writeHead(200, told);
    else res.writeHead(200, told);
  };
  const send = (event: string, json: Json | string) => {
    const text = `${event}data: ${typeof json === "string" ? json : Buffer.from(json).toString()}\n\n`;
    // The two types of `res` have no common signature of write, either.
    if ("stream" in res) res.write(text);
    else res.write(text);
  };
  return {
    tell(part) {
      if (res.writableEnded || res.destroyed) return;
      begin({});
      send("", writePart(part));
    },
    end(outcome, writeAnswer) {
      if (!outcome.ok && !res.headersSent) return false;
      begin(outcome.headers);
      if (outcome.ok) {
        const answer = writeAnswer(outcome.message);
        const json = typeof answer === "string" ? answer : Buffer.from(answer).toString();
        send("", `{"${answerField.jsonName}":${json}}`);
      } else send("event: error\n", errorBody(outcome.error));
      res.end();
      return true;
    },
  };
}
