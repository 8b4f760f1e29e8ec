import type { DescField, DescMessage, JsonObject } from "@bufbuild/protobuf";
import { afterAll, expect, test } from "vitest";
import { readToolTable } from "../../src/mcp/tool-table.ts";
import { apiScopes, isSecret } from "../../src/rpc/access.ts";
import { granted } from "../support/grants.ts";
import { mcpClient } from "../support/mcp.ts";
import { startSlack } from "../support/slack/stand-in.ts";
import { startApi, type TestWorkspace } from "../support/start-api.ts";
import { requestFor, seeds } from "../support/tenant-records.ts";
import { endsCaller, type Operation, operationsOf } from "./operations.ts";
import { restForm } from "./send.ts";

const slack = await startSlack();
afterAll(slack.close);
const api = await startApi({ deps: { slack: slack.client } });
const toolOf = await readToolTable();
const workspace = await api.newWorkspace();
const operations = operationsOf(api.services).filter(
  ({ isBuilt, method, fullAccess }) => isBuilt && !fullAccess && toolOf(method) !== undefined,
);

test("every operation that models get a tool for has records to try it with", () => {
  expect(operations.filter(({ name }) => seeds[name] === undefined).map(({ name }) => name)).toEqual([]);
});
