import { type DescMethodUnary, fromJson, getOption, type JsonObject } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { beforeAll, describe, expect, test } from "vitest";
import { http } from "../../gen/google/api/annotations_pb.js";
import { BadRequestSchema } from "../../gen/google/rpc/error_details_pb.js";
import { LinksService } from "../../gen/signpost/v1/links_service_pb.js";
import { QrcodeDesignService } from "../../gen/signpost/v1/qrcode_design_service_pb.js";
import { VisitorsService } from "../../gen/signpost/v1/visitors_service_pb.js";
import { WorkflowStepsService } from "../../gen/signpost/v1/workflow_steps_service_pb.js";
import { startApi, type TestWorkspace } from "../support/start-api.ts";

/** A caller learns of every bad field at once: fields that break their rules, and fields that handlers refuse. */
const api = await startApi();
let workspace: TestWorkspace;
let linkId: string;
beforeAll(async () => {
  workspace = await api.newWorkspace();
  linkId = (await workspace.rest("POST", "/v1/links", { destination: "https://example.com" })).json.link.id;
});

const long = "x".repeat(256);
const own = "https://short.test/4BnH-R19p";
const someId = "0190f0c0-6d3a-7c41-8e1f-3a5f0a9b1c2d";

interface Row {
  readonly what: string;
  readonly method: DescMethodUnary;
  /** The fields of the path. */
  readonly named?: () => JsonObject;
  readonly request: JsonObject;
  readonly fields: readonly string[];
}

const rows: Row[] = [
  {
    what: "a link to be made",
    method: LinksService.method.create,
    request: { destination: "nowhere", name: long, shortlink: "v1", fallbackDestination: own },
    fields: ["destination", "fallbackDestination", "name", "shortlink"],
  },
  {
    what: "a contact card to be made",
    method: LinksService.method.createContactLink,
    request: {
      name: long,
      shortlink: "-",
      vcardData: {
        firstName: "Ada",
        lastName: "L",
        website: "ftp",
        socialLinks: [{ platform: "mars", url: own }],
      },
    },
    fields: [
      "name",
      "shortlink",
      "vcardData.socialLinks[0].platform",
      "vcardData.socialLinks[0].url",
      "vcardData.website",
    ],
  },
  {
    what: "a link to be changed",
    method: LinksService.method.update,
    named: () => ({ id: linkId }),
    request: { name: long, fallbackDestination: own, tags: ["a"], tagsDelete: true },
    fields: ["fallbackDestination", "name", "tags"],
  },
  {
    what: "a step to be made",
    method: WorkflowStepsService.method.create,
    named: () => ({ linkId }),
    request: {
      eventAction: "EVENT_ACTION_CLIENT_REDIRECT",
      insertBefore: someId,
      payload: { clientRedirect: { destination: own } },
      attributeCapture: {
        writes: [
          { key: "$email", value: "x" },
          { key: "k", value: "{{visitor.email}}" },
          { key: "l", value: "{{choice.id}}" },
        ],
      },
    },
    fields: [
      "attributeCapture.writes[0].key",
      "attributeCapture.writes[1].value",
      "attributeCapture.writes[2].value",
      "insertBefore",
      "payload.clientRedirect.destination",
    ],
  },
  {
    what: "a design to be changed",
    method: QrcodeDesignService.method.update,
    named: () => ({ id: someId }),
    request: { width: -1, centralImageData: "AAAA", centralImageDelete: true },
    fields: ["centralImageData", "width"],
  },
  {
    what: "a visitor to be searched",
    method: VisitorsService.method.search,
    request: {
      linkId: "x",
      attributeFilters: [
        { key: "$phone", operator: "VISITOR_ATTRIBUTE_FILTER_OPERATOR_NUMBER_EQUALS", value: "1" },
        { key: "age", operator: "VISITOR_ATTRIBUTE_FILTER_OPERATOR_NUMBER_EQUALS", value: "ten" },
        { key: "age" },
      ],
    },
    fields: [
      "attributeFilters[0].operator",
      "attributeFilters[1].value",
      "attributeFilters[2].operator",
      "linkId",
    ],
  },
  {
    what: "a visitor to be told",
    method: VisitorsService.method.identify,
    request: { lbid: "x".repeat(1_025), visitor: { $email: "ada", plan: [1], $plan: "x" } },
    fields: ["lbid", 'visitor["$email"]', 'visitor["$plan"]', "visitor.plan"],
  },
];

const refused = {
  async rest({ method, named, request }: Row): Promise<string[]> {
    const { pattern } = getOption(method, http);
    if (pattern.case !== "post" && pattern.case !== "patch") throw new Error("the request has no body");
    const path = pattern.value.replace(/\{(\w+)\}/g, (_, name: string) =>
      String(named?.()[method.input.fields.find((field) => field.name === name)?.jsonName ?? ""]),
    );
    const { status, json } = await workspace.rest(pattern.case.toUpperCase(), path, request);
    expect(status, JSON.stringify(json)).toBe(400);
    const details: readonly { readonly fieldViolations?: readonly { readonly field: string }[] }[] =
      json.error.details;
    return details.flatMap(({ fieldViolations = [] }) => fieldViolations.map(({ field }) => field));
  },
  async grpc({ method, named, request }: Row): Promise<string[]> {
    const message = fromJson(method.input, { ...request, ...named?.() });
    const call = api
      .transport(workspace.token, "grpc")
      .unary(method, undefined, undefined, undefined, message);
    const error = await call.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    if (!(error instanceof ConnectError)) throw new Error("the request was taken");
    const [details] = error.findDetails(BadRequestSchema);
    return details?.fieldViolations.map(({ field }) => field) ?? [];
  },
};

describe.each(["rest", "grpc"] as const)("over %s", (protocol) => {
  test.each(rows)("$what: every bad field at once", async (row) => {
    expect((await refused[protocol](row)).toSorted()).toEqual(row.fields.toSorted());
  });
});
