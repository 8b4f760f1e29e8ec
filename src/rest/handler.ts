import type { DescMethodUnary, Message, Registry } from "@bufbuild/protobuf";
import { CallError, fail } from "../lib/errors.ts";
import type { BodyBudget, BodyHold } from "../lib/limits/body-budget.ts";
import { bodyBytesMax } from "../lib/limits/body-bytes.ts";
import { inflated, isCompressed, tooLarge } from "../lib/limits/inflated.ts";
import {
  announcedLength,
  discardBody,
  dropMax,
  expectsContinue,
  lingerBeforeClose,
  receiveBody,
} from "../lib/limits/request-body.ts";
import { requestIdOf } from "../lib/request-id.ts";
import type { AnswerHeaders, Call, Invoke, Weigh } from "../rpc/call.ts";
import { type Binding, isHttpBody } from "./binding.ts";
import { announcesBody, checkMediaType, contentCoding, header, type RestRequest } from "./body.ts";
import { allowOrigin, isPreflight, preflight } from "./cross-origin.ts";
import { createDecoders, type Decode } from "./decode.ts";
import { createEncoders, type Encode, type Encoders } from "./encode.ts";
import { acceptsCsv, csvEncoder } from "./encode-csv.ts";
import { acceptsEvents, eventStream, type Parts } from "./event-stream.ts";
import { type RestResponse, respond, respondError, respondFile } from "./respond.ts";
import type { RestRouter } from "./router.ts";

export interface RestOptions {
  readonly router: RestRouter;
  readonly invoke: Invoke;
  /** The messages that may occur in google.protobuf.Any. */
  readonly registry: Registry;
  /** The limit of a method's request body in bytes, where it differs from `bodyBytesMax`. */
  readonly bodyBytesMaxOf?: (method: DescMethodUnary) => number | undefined;
  /** Limits the memory of all request bodies. */
  readonly bodies: BodyBudget;
  /** The HTTP status of a method's success, where it differs from 200. */
  readonly successStatusOf?: (method: DescMethodUnary) => number | undefined;
  /** How the answer of a method is told in parts; undefined for methods whose answer comes whole. */
  readonly partsOf?: (method: DescMethodUnary) => Parts | undefined;
  /** Whether pages of any origin may call a method; none by default. */
  readonly isCrossOrigin?: (method: DescMethodUnary) => boolean;
  /** The client's IP address, after trusted proxies. */
  readonly clientAddress: (req: RestRequest) => string;
  /** The rate-limit headers for a caller at an address who is refused before the method is known; none by default. */
  readonly limitsOf?: (address: string) => AnswerHeaders;
  /** Makes a request id for callers that send none. */
  readonly newRequestId: () => string;
  /** Told of each bug of ours; the client gets INTERNAL under this request id. */
  readonly onFault: (error: unknown, requestId: string) => void;
}

/** Serves one REST call. Never throws. */
export type RestHandler = (req: RestRequest, res: RestResponse) => void;

interface BindingPlan {
  readonly binding: Binding;
  readonly decode: Decode;
  readonly encode: Encode;
  /** Whether the answer is a file of its own media type instead of JSON. */
  readonly isFile: boolean;
  /** For callers that accept tables, where the answer can be one. */
  readonly encodeCsv: Encode | undefined;
  readonly bodyBytesMax: number;
  readonly status: number;
}

interface MatchedRoute {
  readonly plan: BindingPlan;
  readonly segments: readonly string[];
  readonly query: string;
}

const noBody = new Uint8Array();

/**
 * Handles everything under the router's paths, for HTTP/1.1 and HTTP/2. It checks path, method, media type and
 * announced size, and takes the body once the pipeline asks for the message. Give it the server's `checkContinue`
 * events as well as its `request` events: it answers `Expect: 100-continue` once the headers are accepted.
 */
export function restHandler(options: RestOptions): RestHandler {
  const { encoderOf, writePart, writeRecord } = createEncoders(options.registry);
  const planOf = createPlans(options, encoderOf);
  const serving = { ...options, writePart, writeRecord };
  return (req, res) => {
    const requestId = requestIdOf(header(req, "x-request-id"), options.newRequestId);
    serve(req, res, requestId, serving, planOf).catch(async (error: unknown) => {
      try {
        if (!(error instanceof CallError)) options.onFault(error, requestId);
        const refusal = error instanceof CallError ? error : internalError();
        await refuse(req, res, refusal, requestId, {
          headers: options.limitsOf?.(options.clientAddress(req)) ?? {},
          bytesMax: 2 * bodyBytesMax,
        });
      } catch (fault) {
        options.onFault(fault, requestId);
        res.destroy();
      }
    });
  };
}

type Serving = RestOptions & Pick<Encoders, "writePart" | "writeRecord">;

/** Compiles plans on first use, which keeps the start of the service short. */
function createPlans(
  options: RestOptions,
  encoderOf: Encoders["encoderOf"],
): (binding: Binding) => BindingPlan {
  const decoderOf = createDecoders(options.registry);
  const plans = new Map<Binding, BindingPlan>();
  return (binding) => {
    const known = plans.get(binding);
    if (known !== undefined) return known;
    const plan = {
      binding,
      decode: decoderOf(binding),
      encode: encoderOf(binding),
      isFile: isHttpBody(binding.responseField?.message ?? binding.method.output),
      encodeCsv: csvEncoder(binding),
      bodyBytesMax: options.bodyBytesMaxOf?.(binding.method) ?? bodyBytesMax,
      status: options.successStatusOf?.(binding.method) ?? 200,
    };
    plans.set(binding, plan);
    return plan;
  };
}

async function serve(
  req: RestRequest,
  res: RestResponse,
  requestId: string,
  options: Serving,
  planOf: (binding: Binding) => BindingPlan,
): Promise<void> {
  if (isPreflight(req) && preflight(req, res, requestId, options)) return;
  const { plan, segments, query } = findRoute(req, options.router, planOf);
  // Set before anything can fail, because pages need to read errors too.
  if (options.isCrossOrigin?.(plan.binding.method) === true) allowOrigin(res);
  const takeBody = bodyOf(req, res, plan);
  const contentType = header(req, "content-type");
  const parts = acceptsEvents(header(req, "accept")) ? options.partsOf?.(plan.binding.method) : undefined;
  const events =
    parts && eventStream(res, parts, { requestId, writePart: (part) => options.writePart(parts.part, part) });
  const call = { ...callOf(req, res, requestId, options), ...(events && { tell: events.tell }) };
  const hold = options.bodies.open(call.clientAddress);
  const read = async (weigh: Weigh) => {
    const body = await takeBody(hold);
    await weigh(body.length);
    return plan.decode({ segments, query, body, contentType });
  };
  const outcome = await options.invoke(plan.binding.method, read, call).finally(hold.release);
  if (events?.end(outcome, (message) => plan.encode(message).body) === true) return;
  if (outcome.ok) answer(req, res, plan, { requestId, ...outcome });
  else await refuse(req, res, outcome.error, requestId, { headers: outcome.headers, bytesMax: dropMax });
}

interface Answered {
  readonly requestId: string;
  readonly message: Message;
  readonly headers: AnswerHeaders;
}

function answer(
  req: RestRequest,
  res: RestResponse,
  plan: BindingPlan,
  { requestId, message, headers }: Answered,
): void {
  const encode = (acceptsCsv(header(req, "accept")) && plan.encodeCsv) || plan.encode;
  const payload = encode(message);
  if (plan.isFile) respondFile(res, payload, header(req, "if-none-match"), { requestId, headers });
  else respond(res, plan.status, payload, requestId, headers);
}

/** Answers with an error. Drops up to `bytesMax` of the body, so that a client that still sends receives the answer. */
async function refuse(
  req: RestRequest,
  res: RestResponse,
  error: CallError,
  requestId: string,
  { headers, bytesMax }: { readonly headers: AnswerHeaders; readonly bytesMax: number },
): Promise<void> {
  await lingerBeforeClose(req, bytesMax);
  respondError(res, error, requestId, headers);
  discardBody(req, bytesMax);
}

function findRoute(
  req: RestRequest,
  router: RestRouter,
  planOf: (binding: Binding) => BindingPlan,
): MatchedRoute {
  const target = originForm(req.url ?? "");
  const mark = target.indexOf("?");
  const path = mark === -1 ? target : target.slice(0, mark);
  const match = router.match(req.method ?? "", path);
  switch (match.kind) {
    case "found":
      return {
        plan: planOf(match.binding),
        segments: match.segments,
        query: mark === -1 ? "" : target.slice(mark + 1),
      };
    case "wrong-method":
      throw fail("UNIMPLEMENTED", "METHOD_NOT_ALLOWED", `use ${match.allow} for this path`, {
        httpStatus: 405,
        headers: { allow: match.allow },
      });
    case "unknown-path":
      throw fail("NOT_FOUND", "NOT_FOUND", "there is no such path");
  }
}

/** Takes the path out of a whole URL, which clients send when they take this server for a proxy. */
function originForm(target: string): string {
  return target.replace(/^https?:\/\/[^/?]*/i, "");
}

type TakeBody = (hold: BodyHold) => Promise<Uint8Array>;

/** Checks what the headers say of the body, and returns the function that receives it. */
function bodyOf(req: RestRequest, res: RestResponse, plan: BindingPlan): TakeBody {
  const { httpMethod, body } = plan.binding;
  const isMeant = httpMethod !== "GET" && httpMethod !== "DELETE";
  // A body means nothing on GET and DELETE (RFC 9110, 9.3.1 and 9.3.5).
  if (!isMeant && announcesBody(req)) discardBody(req, plan.bodyBytesMax);
  if (!isMeant || !announcesBody(req)) return async () => noBody;
  const anyType = body.kind === "raw";
  const hasType = header(req, "content-type") !== undefined;
  checkMediaType(req, anyType || !hasType);
  const announced = announcedLength(req);
  if (announced > plan.bodyBytesMax) throw tooLarge(plan.bodyBytesMax);
  return async (hold) => {
    if (expectsContinue(req)) res.writeContinue();
    const bytes = await receiveBody(req, { bytesMax: plan.bodyBytesMax, announced, hold, tooLarge });
    if (bytes.length > 0 && !hasType) checkMediaType(req, anyType);
    const coding = contentCoding(req);
    if (!isCompressed(coding) || bytes.length === 0) return bytes;
    return inflated(bytes, coding, { bytesMax: plan.bodyBytesMax, hold });
  };
}

function callOf(req: RestRequest, res: RestResponse, requestId: string, options: Serving): Call {
  const aborter = new AbortController();
  res.on("close", () => {
    if (!res.writableEnded) aborter.abort();
  });
  return {
    protocol: "rest",
    resource: "API",
    requestId,
    authorization: header(req, "authorization"),
    idempotencyKey: header(req, "idempotency-key"),
    testClock: header(req, "x-service-test-clock"),
    target: `${req.method} ${req.url}`,
    clientAddress: options.clientAddress(req),
    signal: aborter.signal,
    timeoutMs: undefined,
    writeRecord: options.writeRecord,
  };
}

function internalError(): CallError {
  return fail("INTERNAL", "INTERNAL", "internal error");
}
