import { newId } from "../../lib/ids.ts";
import type { BodyBudget } from "../../lib/limits/body-budget.ts";
import { mcpHandler } from "../../mcp/handler.ts";
import { type ListedSurface, listed } from "../../mcp/methods.ts";
import { type SurfaceName, surfaces } from "../../mcp/surfaces.ts";
import { createUse } from "../../mcp/use.ts";
import type { OpenPipeline } from "../../rpc/open-pipeline.ts";
import { connectionOf } from "../../server/connection.ts";
import type { Parts } from "./parts.ts";

/** Opens the tools for models over the pipeline that every protocol calls. */
export function openMcp(
  {
    addresses,
    now,
    log,
    readOrigin,
    storage,
  }: Pick<Parts, "addresses" | "now" | "log" | "readOrigin" | "storage">,
  { invoke, services, letIn }: Pick<OpenPipeline, "invoke" | "services" | "letIn">,
  bodies: BodyBudget,
) {
  const loaded = new Map<SurfaceName, Promise<ListedSurface>>();
  return mcpHandler({
    server: { name: "signpost", title: "Signpost", version: "v1" },
    admit: ({ authorization, clientAddress }) => letIn({ authorization, clientAddress, resource: "MCP" }),
    useOf: createUse({
      services: services.map(({ service }) => service),
      invoke,
      storage,
      baseUrl: addresses.baseUrl,
    }),
    surfaceOf(name = "operations") {
      if (!isSurface(name)) return undefined;
      const known = loaded.get(name) ?? surfaces[name]({ services, now }).then(listed);
      loaded.set(name, known);
      known.catch(() => loaded.delete(name));
      return known;
    },
    bodies,
    clientAddress: (req) => readOrigin(connectionOf(req)).address,
    newRequestId: () => newId(now()),
    onFault: (error, requestId) => log.error({ err: error, requestId }, "the tools for models failed"),
  });
}

function isSurface(name: string): name is SurfaceName {
  return Object.hasOwn(surfaces, name);
}
