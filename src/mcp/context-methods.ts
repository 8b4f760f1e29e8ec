import { CallError, fail } from "../lib/errors.ts";
import type { Caller } from "../rpc/handlers.ts";
import { isJsonObject } from "../wire/read-message.ts";
import { type RpcFault, rpcCodes, rpcFault } from "./json-rpc.ts";
import type { Asked, Method, Result } from "./methods.ts";
import { type Caching, withHandshake } from "./revisions.ts";
import type { Json, Prompt, Resource } from "./tool.ts";

/** How results and refusals are written. */
export interface Writing {
  readonly write: (asked: Asked, members: Result, caching?: Caching) => Result;
  readonly failed: (error: CallError) => RpcFault;
  /** For what depends on the caller. */
  readonly ofCaller: Caching;
}

/** The methods for prompts and resources, which give a model context. */
export function contextMethods({ write, failed, ofCaller }: Writing): [string, Method][] {
  const listing =
    (members: (asked: Asked) => Json): Method =>
    (asked) =>
      write(asked, [JSON.stringify(members(asked)).slice(1, -1)], ofCaller);
  const giving =
    (members: (asked: Asked) => Promise<Json | RpcFault>, caching?: Caching): Method =>
    async (asked) => {
      const given = await members(asked).catch((error: unknown) => {
        if (error instanceof CallError) return failed(error);
        throw error;
      });
      return isFault(given) ? given : write(asked, [JSON.stringify(given).slice(1, -1)], caching);
    };
  return [
    [
      "prompts/list",
      listing(({ caller, surface }) => ({ prompts: visible(caller, surface.prompts).map(promptEntry) })),
    ],
    ["prompts/get", giving(getPrompt)],
    [
      "resources/list",
      listing(({ caller, surface }) => ({
        resources: visible(caller, surface.resources).flatMap((each) =>
          each.uri === undefined ? [] : [entryOf(each)],
        ),
      })),
    ],
    [
      "resources/templates/list",
      listing(({ caller, surface }) => ({
        resourceTemplates: visible(caller, surface.resources).flatMap((each) =>
          each.uriTemplate === undefined ? [] : [entryOf(each)],
        ),
      })),
    ],
    ["resources/read", giving(readResource, ofCaller)],
  ];
}

function isFault(given: Json | RpcFault): given is RpcFault {
  return "httpStatus" in given;
}

function visible<Each extends Prompt | Resource>({ scopes }: Caller, all: readonly Each[]): Each[] {
  return all.filter((each) => each.scopes.every((scope) => scopes.has(scope)));
}

function promptEntry({ name, title, description, arguments: given }: Prompt): Json {
  return { name, title, description, arguments: given };
}

function entryOf({ uri, uriTemplate, name, title, description, mimeType }: Resource): Json {
  return {
    ...(uri === undefined ? {} : { uri }),
    ...(uriTemplate === undefined ? {} : { uriTemplate }),
    name,
    title,
    description,
    mimeType,
  };
}

async function getPrompt({ params, caller, surface, use }: Asked): Promise<Json | RpcFault> {
  const { name, arguments: given = {} } = params;
  const prompt = surface.prompts.find((each) => each.name === name);
  if (prompt === undefined)
    return rpcFault(rpcCodes.invalidParams, "there is no such prompt; prompts/list names all", {
      httpStatus: 200,
    });
  if (!isTexts(given)) return rpcFault(rpcCodes.invalidParams, "arguments must be an object of texts");
  requireScopes(caller, prompt.scopes);
  const messages = await prompt.make(given, use());
  return {
    description: prompt.description,
    messages: messages.map(({ role, text }) => ({ role, content: { type: "text", text } })),
  };
}

function isTexts(given: unknown): given is Readonly<Record<string, string>> {
  return isJsonObject(given) && Object.values(given).every((value) => typeof value === "string");
}

async function readResource({ revision, params, caller, surface, use }: Asked): Promise<Json | RpcFault> {
  const { uri } = params;
  if (typeof uri !== "string") return rpcFault(rpcCodes.invalidParams, "uri must be a text");
  for (const resource of surface.resources) {
    const isMeant = resource.uri === undefined ? isOf(resource.uriTemplate ?? "", uri) : resource.uri === uri;
    if (!isMeant) continue;
    requireScopes(caller, resource.scopes);
    const text = await resource.read(uri, use());
    if (text !== undefined) return { contents: [{ uri, mimeType: resource.mimeType, text }] };
  }
  // The revision with a handshake has a code of its own for this.
  const code = revision === withHandshake ? rpcCodes.resourceNotFound : rpcCodes.invalidParams;
  return rpcFault(code, "there is no such resource; resources/templates/list names the families", {
    data: { uri: uri.slice(0, shownMax) },
    httpStatus: 200,
  });
}

const shownMax = 200;

/** Whether an address begins as those of a family do, before the first variable. */
function isOf(uriTemplate: string, uri: string): boolean {
  return uri.startsWith(uriTemplate.slice(0, uriTemplate.indexOf("{")));
}

function requireScopes({ scopes }: Caller, needed: readonly string[]): void {
  const missing = needed.find((scope) => !scopes.has(scope));
  if (missing === undefined) return;
  throw fail("PERMISSION_DENIED", "INSUFFICIENT_SCOPE", `the grant lacks the scope ${missing}`, {
    metadata: { scope: missing },
  });
}
