import { expect, test } from "vitest";
import { startApi } from "../../../test/support/start-api.ts";

const api = await startApi();

test("anyone can list every scope, ordered by name, and caches may keep the answer", async () => {
  const { status, headers, json } = await api.rest()("GET", "/v1/api-scopes");
  expect(status).toBe(200);
  expect(headers["cache-control"]).toBe("public, max-age=300");
  const names: string[] = json.scopes.map((scope: { name: string }) => scope.name);
  expect(names).toHaveLength(37);
  expect(names).toEqual(names.toSorted((a, b) => (a < b ? -1 : 1)));
  expect(json.scopes).toContainEqual({
    name: "visitors:identify",
    description: "Identify visitors, without reading their profiles.",
    write: true,
  });
  for (const { name, write } of json.scopes) expect(write).toBe(!name.endsWith(":read"));
});
