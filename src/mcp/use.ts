import { createRegistry, type DescMethodUnary, type DescService } from "@bufbuild/protobuf";
import { filesPath } from "../lib/storage/file-url.ts";
import type { Storage } from "../lib/storage/storage.ts";
import { type Binding, bindingsOf } from "../rest/binding.ts";
import { createWholeDecoders, type DecodeWhole } from "../rest/decode.ts";
import { createEncoders, type Encode } from "../rest/encode.ts";
import { isSecret } from "../rpc/access.ts";
import type { AnswerHeaders, Call, Invoke } from "../rpc/call.ts";
import type { Caller } from "../rpc/handlers.ts";
import type { Image, Json, Use } from "./tool.ts";

export interface UseDeps {
  readonly services: readonly DescService[];
  readonly invoke: Invoke;
  readonly storage: Pick<Storage, "get" | "sizeOf">;
  /** Public address of the API, at which stored files stand. */
  readonly baseUrl: string;
}

/** What is the same for all calls that one request makes. */
export interface Asking {
  readonly caller: Caller;
  readonly call: Omit<Call, "target" | "idempotencyKey" | "writeRecord">;
  /** Told of the headers of each answer. */
  readonly onHeaders: (headers: AnswerHeaders) => void;
}

interface Plan {
  readonly decode: DecodeWhole;
  readonly encode: Encode;
}

/** Images of more bytes are not shown. */
const imageBytesMax = 512 * 1024;

/** Makes what tools use, over the pipeline that every protocol calls. */
export function createUse({ services, invoke, storage, baseUrl }: UseDeps): (asking: Asking) => Use {
  const registry = createRegistry(...services.map(({ file }) => file));
  const decoderOf = createWholeDecoders(registry);
  const { encoderOf, writeRecord } = createEncoders(registry, isSecret);
  const plans = new Map<DescMethodUnary, Plan>();
  const planOf = (method: DescMethodUnary): Plan => {
    const known = plans.get(method);
    if (known !== undefined) return known;
    const binding = bindingOf(method);
    const plan = { decode: decoderOf(binding), encode: encoderOf(binding) };
    plans.set(method, plan);
    return plan;
  };

  return ({ caller, call, onHeaders }) => {
    const perform: Use["perform"] = async (method, request, options = {}) => {
      const { decode, encode } = planOf(method);
      const bytes = options.bytes ?? Buffer.byteLength(JSON.stringify(request));
      const outcome = await invoke(
        method,
        async (weigh) => {
          await weigh(bytes);
          return decode(request, bytes);
        },
        {
          ...call,
          target: `POST /${method.parent.typeName}/${method.name}`,
          idempotencyKey: options.idempotencyKey,
          writeRecord,
        },
      );
      onHeaders(outcome.headers);
      if (!outcome.ok) throw outcome.error;
      return { message: outcome.message, ...encode(outcome.message) };
    };
    return {
      caller,
      perform,
      async call(method, request, options) {
        const { body } = await perform(method, request, options);
        // The encoder has just written it.
        return JSON.parse(typeof body === "string" ? body : Buffer.from(body).toString("utf8")) as Json;
      },
      image: (address) => imageAt(storage, `${baseUrl}${filesPath}`, address),
    };
  };
}

/** The first of an operation's REST forms, whose answer the tool gives. */
function bindingOf(method: DescMethodUnary): Binding {
  const [binding] = bindingsOf(method);
  if (binding === undefined) throw new Error(`${method.parent.typeName}/${method.name}: has no REST form`);
  return binding;
}

async function imageAt(
  storage: UseDeps["storage"],
  folder: string,
  address: string,
): Promise<Image | undefined> {
  if (!address.startsWith(folder)) return undefined;
  const [key = ""] = address.slice(folder.length).split("?", 1);
  const bytes = await storage.sizeOf(key);
  if (bytes === undefined || bytes > imageBytesMax) return undefined;
  const file = await storage.get(key);
  return file === undefined ? undefined : { mimeType: file.contentType, bytes: file.bytes };
}
