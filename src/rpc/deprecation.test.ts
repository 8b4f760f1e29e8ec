import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { openapiDocument } from "../../build/openapi/document.ts";
import {
  HastyService,
  LeaveRequestSchema,
  RetiringService,
} from "../../gen/signpost/testing/v1/retiring_pb.js";
import { ApiScopesService } from "../../gen/signpost/v1/api_scopes_service_pb.js";
import { ErrorBodySchema } from "../../gen/signpost/v1/error_body_pb.js";
import { ErrorReasonSchema } from "../../gen/signpost/v1/error_reason_pb.js";
import { newCall } from "../../test/support/new-call.ts";
import { startApi } from "../../test/support/start-api.ts";
import { apiScopesService } from "../api/api-scopes/service.ts";
import { fail } from "../lib/errors.ts";
import { planMethods } from "./access.ts";
import { register } from "./handlers.ts";

let isRefused = false;
const service = register(RetiringService, {
  leave: async () => {
    if (isRefused) throw fail("NOT_FOUND", "NOT_FOUND", "gone");
    return {};
  },
  fade: async () => ({}),
});

test("every answer of a deprecated method says since when, until when, and what to read", async () => {
  const api = await startApi({ services: [service] });
  const leave = () => api.invoke(RetiringService.method.leave, () => create(LeaveRequestSchema), newCall());
  const headers = {
    deprecation: "@1772323200",
    link: '<https://example.com/instead>; rel="deprecation"; type="text/html"',
    sunset: "Fri, 28 Aug 2026 00:00:00 GMT",
  };
  expect(await leave()).toMatchObject({ ok: true, headers });
  isRefused = true;
  expect(await leave()).toMatchObject({ ok: false, headers });
});

test("a deprecated method without a sunset sends no Sunset header, and other methods send no such header at all", () => {
  const plans = planMethods([service, register(ApiScopesService, apiScopesService())]);
  expect(plans.get(RetiringService.method.fade)?.retirement).not.toHaveProperty("sunset");
  expect(plans.get(RetiringService.method.fade)?.retirement).toHaveProperty("deprecation");
  expect(plans.get(ApiScopesService.method.list)?.retirement).toEqual({});
});

test("a service does not start when a method leaves its callers less than 180 days", () => {
  const hasty = register(HastyService, { rush: async () => ({}) });
  expect(() => planMethods([hasty])).toThrow(/HastyService\/Rush: its sunset must be at least 180 days/);
});

test("the OpenAPI document says which methods are deprecated, and from which day they may be gone", () => {
  const { paths } = openapiDocument({
    services: [RetiringService],
    errorReason: ErrorReasonSchema,
    error: ErrorBodySchema,
    readComment: () => undefined,
  });
  const { get } = paths["/v1/leave"] ?? {};
  expect(get).toMatchObject({ deprecated: true, "x-sunset": "2026-08-28" });
  expect(get?.responses[200]).toMatchObject({ headers: { Deprecation: {}, Link: {}, Sunset: {} } });
  expect(paths["/v1/fade"]?.get).toMatchObject({ deprecated: true });
  expect(paths["/v1/fade"]?.get).not.toHaveProperty("x-sunset");
});
