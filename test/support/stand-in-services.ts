import { beforeEach } from "vitest";
import { ApiScopesService } from "../../gen/signpost/v1/api_scopes_service_pb.js";
import { WorkspaceTokensService } from "../../gen/signpost/v1/workspace_tokens_service_pb.js";
import { apiScopesService } from "../../src/api/api-scopes/service.ts";
import { type Handlers, type RegisteredService, register } from "../../src/rpc/handlers.ts";

/**
 * Real services whose handlers a test can replace until it ends, to observe the pipeline around them. `create` is a
 * keyed write that answers a secret, `list` reads, `delete` writes without a key; API scopes are open.
 */
export function standInServices() {
  const empty: Handlers<typeof WorkspaceTokensService> = {
    list: async () => ({}),
    get: async () => ({}),
    create: async () => ({}),
    update: async () => ({}),
    delete: async () => ({}),
  };
  const handlers: { -readonly [K in keyof typeof empty]: (typeof empty)[K] } = { ...empty };
  beforeEach(() => void Object.assign(handlers, empty));
  const create: typeof empty.create = (request, context) => handlers.create(request, context);
  // The test decides later whether its handler has two parts.
  Object.defineProperty(create, "prepare", { get: () => Reflect.get(handlers.create, "prepare") });
  const services: RegisteredService[] = [
    register(ApiScopesService, apiScopesService()),
    register(WorkspaceTokensService, {
      list: (request, context) => handlers.list(request, context),
      get: (request, context) => handlers.get(request, context),
      create,
      update: (request, context) => handlers.update(request, context),
      delete: (request, context) => handlers.delete(request, context),
    }),
  ];
  return { handlers, services };
}
