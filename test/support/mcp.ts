import type { Reply } from "./start-api.ts";

/** Sends one message to the tools of a service that `startApi` runs. */
export type Send = (
  method: string,
  params?: object,
  headers?: Readonly<Record<string, string>>,
) => Promise<Reply>;

interface HasRest {
  rest(
    token?: string,
  ): (
    method: string,
    path: string,
    body?: unknown,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<Reply>;
}

/** The client's part of each revision. */
export interface McpClient {
  /** Posts a body as it is. */
  post(body: unknown, headers?: Readonly<Record<string, string>>, path?: string): Promise<Reply>;
  /** A request of revision 2025-11-25. */
  readonly ask: Send;
  /** A request of revision 2026-07-28, with everything that its headers repeat. */
  readonly askStateless: Send;
  /** Calls a tool and returns its result, or the error. */
  // biome-ignore lint/suspicious/noExplicitAny: tests reach into answers of every shape.
  call(name: string, given?: object): Promise<any>;
}

export const statelessVersion = "2026-07-28";

/** What every request of revision 2026-07-28 says of itself. */
export const statelessMeta = {
  "io.modelcontextprotocol/protocolVersion": statelessVersion,
  "io.modelcontextprotocol/clientInfo": { name: "a test", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/** Speaks the protocol with an access token, or without one. */
export function mcpClient(api: HasRest, accessToken?: string): McpClient {
  const rest = api.rest(accessToken);
  let id = 0;
  const post: McpClient["post"] = (body, headers, path = "/mcp") => rest("POST", path, body, headers);
  const ask: Send = (method, params, headers) => {
    id += 1;
    return post({ jsonrpc: "2.0", id, method, ...(params && { params }) }, headers);
  };
  return {
    post,
    ask,
    askStateless: (method, params = {}, headers) => {
      const { name, uri = name } = params as { readonly name?: string; readonly uri?: string };
      return ask(
        method,
        { ...params, _meta: statelessMeta },
        {
          "mcp-protocol-version": statelessVersion,
          "mcp-method": method,
          ...(uri === undefined ? {} : { "mcp-name": uri }),
          ...headers,
        },
      );
    },
    async call(name, given = {}) {
      const { json } = await ask("tools/call", { name, arguments: given });
      return json.result ?? json.error;
    },
  };
}
