import { expect, test } from "vitest";
import { ApiScope } from "../../../gen/signpost/options/v1/access_pb.js";
import { ApiScopeAccess } from "../../../gen/signpost/v1/api_scope_pb.js";
import { ApiScopesService } from "../../../gen/signpost/v1/api_scopes_service_pb.js";
import { startApi } from "../../../test/support/start-api.ts";

const api = await startApi();

interface Item {
  readonly scope: string;
  readonly name: string;
  readonly resource: string;
  readonly access: string;
  readonly description: string;
}

test("anyone can list every scope, by resource, read before write, and caches may keep the answer", async () => {
  const { status, headers, json } = await api.rest()("GET", "/v1/api-scopes");
  expect(status).toBe(200);
  expect(headers["cache-control"]).toBe("public, max-age=300");
  const scopes: Item[] = json.scopes;
  expect(scopes).toHaveLength(29);
  // In the alphabet, too, "read" comes before "write".
  const names = scopes.map(({ name }) => name);
  expect(names).toEqual(names.toSorted((a, b) => (a < b ? -1 : 1)));
  expect(scopes.filter(({ resource }) => resource === "billing")).toHaveLength(1);
  expect(scopes).toContainEqual({
    scope: "API_SCOPE_PAGE_THEMES_WRITE",
    name: "page_themes:write",
    resource: "page_themes",
    access: "API_SCOPE_ACCESS_WRITE",
    description: "Create and change page themes and page theme templates.",
  });
  for (const { scope, name, resource, access, description } of scopes) {
    const word = access === "API_SCOPE_ACCESS_READ" ? "read" : "write";
    expect(name).toBe(`${resource}:${word}`);
    expect(scope).toBe(`API_SCOPE_${resource}_${word}`.toUpperCase());
    expect(description).toMatch(/^[A-Z].*\.$/);
  }
});

test("gRPC answers the same list", async () => {
  const { scopes } = await api.client(ApiScopesService).list({});
  expect(scopes).toHaveLength(29);
  expect(scopes[0]).toMatchObject({ scope: ApiScope.ANALYTICS_READ, access: ApiScopeAccess.READ });
});
