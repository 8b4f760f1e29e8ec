import { CallError, fail } from "../lib/errors.ts";
import { errorObject } from "../rest/error-body.ts";
import type { Caller } from "../rpc/handlers.ts";
import { isJsonObject } from "../wire/read-message.ts";
import { adviceOn } from "./advice.ts";
import { contextMethods } from "./context-methods.ts";
import { type RpcFault, rpcCodes, rpcFault } from "./json-rpc.ts";
import { cutText, textBytesMax } from "./model-text.ts";
import {
  type Caching,
  type Revision,
  resultMembers,
  type ServerInfo,
  stateless,
  withHandshake,
} from "./revisions.ts";
import type { Json, Surface, Tool, ToolAnswer, Use } from "./tool.ts";

/** The members of a result as JSON text, in pieces that may be bytes. */
export type Result = readonly (string | Uint8Array)[];

/** What a method is given. */
export interface Asked {
  readonly revision: Revision;
  readonly params: Json;
  /** The size of the whole request. */
  readonly bytes: number;
  readonly caller: Caller;
  readonly surface: ListedSurface;
  readonly use: () => Use;
}

export type Method = (asked: Asked) => Promise<Result | RpcFault> | Result | RpcFault;

/** A surface whose entries are found by name and whose list is written. */
export interface ListedSurface extends Surface {
  readonly toolOf: ReadonlyMap<string, Tool>;
  readonly entries: readonly { readonly tool: Tool; readonly text: Buffer }[];
}

/** Prepares a surface, once. */
export function listed(surface: Surface): ListedSurface {
  return {
    ...surface,
    toolOf: new Map(surface.tools.map((tool) => [tool.name, tool])),
    entries: surface.tools.map((tool) => ({ tool, text: Buffer.from(tool.definition) })),
  };
}

/** How many tools a page of `tools/list` has: about a third of a megabyte. */
const toolsOfPage = 60;

/** What the server is changes only with its version, what a caller may do within minutes. */
const ofServer: Caching = { ttlMs: 3_600_000, cacheScope: "public" };
export const ofCaller: Caching = { ttlMs: 300_000, cacheScope: "private" };

/** The methods of each revision. All others do not exist. */
export function createMethods(server: ServerInfo): (revision: Revision, name: string) => Method | undefined {
  const write = (revision: Revision, members: Result, caching?: Caching): Result => [
    `{${resultMembers(revision, server, caching)}`,
    ...members,
    "}",
  ];
  const listTools: Method = (asked) => {
    const page = pageOf(asked);
    return "code" in page ? page : write(asked.revision, page.members, ofCaller);
  };
  const callTool: Method = async (asked) => {
    const called = await calledTool(asked);
    return "code" in called ? called : write(asked.revision, toolMembers(called));
  };
  const shared: [string, Method][] = [
    ["tools/list", listTools],
    ["tools/call", callTool],
    ...contextMethods({
      write: ({ revision }, members, caching) => write(revision, members, caching),
      failed,
      ofCaller,
    }),
  ];
  const methods: Readonly<Record<Revision, ReadonlyMap<string, Method>>> = {
    [withHandshake]: new Map<string, Method>([
      ...shared,
      [
        "initialize",
        ({ surface }) => [
          JSON.stringify({ protocolVersion: withHandshake, ...about(surface), serverInfo: server }),
        ],
      ],
      ["ping", () => ["{}"]],
    ]),
    [stateless]: new Map<string, Method>([
      ...shared,
      [
        "server/discover",
        ({ revision, surface }) => {
          const members = JSON.stringify({ supportedVersions: [stateless], ...about(surface) }).slice(1, -1);
          return write(revision, [members], ofServer);
        },
      ],
    ]),
  };
  return (revision, name) => methods[revision].get(name);
}

/** What a surface can do. Nothing of it changes while a client is connected, and nothing is sent that was not asked for. */
function about({ instructions, prompts, resources }: Surface) {
  return {
    capabilities: {
      tools: {},
      ...(prompts.length > 0 ? { prompts: {} } : {}),
      ...(resources.length > 0 ? { resources: {} } : {}),
    },
    instructions,
  };
}

/** Whether a caller sees a tool. */
function sees({ scopes, fullAccess, ...caller }: Caller, tool: Tool): boolean {
  if (!tool.scopes.every((scope) => scopes.has(scope))) return false;
  return tool.isFor?.({ scopes, fullAccess, ...caller }) ?? true;
}

/** One page of the tools that the caller may use. The cursor names the last tool of the page before. */
function pageOf({ params, caller, surface }: Asked): { readonly members: Result } | RpcFault {
  const { cursor } = params;
  const after = typeof cursor === "string" ? Buffer.from(cursor, "base64url").toString("utf8") : "";
  const start = after === "" ? 0 : surface.entries.findIndex(({ tool }) => tool.name === after) + 1;
  if ((cursor !== undefined && typeof cursor !== "string") || (cursor !== undefined && start === 0))
    return rpcFault(rpcCodes.invalidParams, "cursor: start again without one", { httpStatus: 200 });
  const rest = surface.entries.slice(start).filter(({ tool }) => sees(caller, tool));
  const page = rest.slice(0, toolsOfPage);
  const last = page.at(-1);
  const next =
    last === undefined || rest.length <= toolsOfPage
      ? ""
      : `,"nextCursor":"${Buffer.from(last.tool.name).toString("base64url")}"`;
  const texts = page.flatMap(({ text }, index) => (index === 0 ? [text] : [",", text]));
  return { members: ['"tools":[', ...texts, `]${next}`] };
}

async function calledTool({ params, caller, surface, use, bytes }: Asked): Promise<ToolAnswer | RpcFault> {
  const { name, arguments: given = {} } = params;
  if (typeof name !== "string") return rpcFault(rpcCodes.invalidParams, "name must be the name of a tool");
  if (!isJsonObject(given)) return rpcFault(rpcCodes.invalidParams, "arguments must be an object");
  const tool = surface.toolOf.get(name);
  if (tool === undefined)
    return rpcFault(rpcCodes.invalidParams, "there is no such tool; tools/list names all", {
      httpStatus: 200,
    });
  try {
    const missing = tool.scopes.find((scope) => !caller.scopes.has(scope));
    if (missing !== undefined && tool.scopes.length > 1)
      throw fail("PERMISSION_DENIED", "INSUFFICIENT_SCOPE", `the grant lacks the scope ${missing}`, {
        metadata: { scope: missing },
      });
    return await tool.run(given, use(), bytes);
  } catch (error) {
    if (error instanceof CallError) return failed(error);
    throw error;
  }
}

/** A tool that fails answers with HTTP 200; only who has no grant gets 401. */
export function failed(error: CallError): RpcFault {
  const { headers, retryAfterSeconds } = error.refusal;
  return rpcFault(rpcCodes.failed, adviceOn(error), {
    data: errorObject(error),
    httpStatus: error.code === "UNAUTHENTICATED" ? 401 : 200,
    headers: {
      ...(retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) }),
      ...headers,
    },
  });
}

function toolMembers({ text, structured, images = [] }: ToolAnswer): Result {
  const blocks = [
    { type: "text", text: cutText(text, textBytesMax) },
    ...images.map(({ mimeType, bytes }) => ({
      type: "image",
      data: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64"),
      mimeType,
    })),
  ];
  return [`"content":${JSON.stringify(blocks)},"structuredContent":`, structured];
}
