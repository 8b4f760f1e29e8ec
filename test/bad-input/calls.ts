import type { JsonObject } from "@bufbuild/protobuf";

/**
 * A well-formed message that breaks a rule. It is sent over REST, gRPC and Connect, and each refuses it in the same
 * way.
 */
export interface BadCall {
  readonly name: string;
  /** `LinksService/Create` */
  readonly rpc: string;
  /** The request as JSON; texts may contain names in guillemets. */
  readonly request: JsonObject;
  readonly code: "INVALID_ARGUMENT" | "NOT_FOUND" | "ALREADY_EXISTS";
  readonly reason: string;
  readonly fields?: readonly string[];
  /** REST cannot express the request: an empty text in the path, or a fault in the field mask. */
  readonly notOverRest?: true;
}

const destination = "https://example.com/";
const unknownId = "0190f0c0-6d3a-7c41-8e1f-3a5f0a9b1c2d";

function invalid(
  rpc: string,
  request: JsonObject,
  fields: readonly string[],
  reason = "INVALID_ARGUMENT",
): BadCall {
  return { name: describe(request), rpc, request, code: "INVALID_ARGUMENT", reason, fields };
}

function missing(rpc: string, request: JsonObject): BadCall {
  return { name: describe(request), rpc, request, code: "NOT_FOUND", reason: "NOT_FOUND" };
}

function describe(request: JsonObject): string {
  const text = JSON.stringify(request);
  return text.length <= 100 ? text : `${text.slice(0, 60)}… of ${text.length} characters`;
}

const refusedDestinations = [
  "javascript:alert(1)",
  "JaVaScRiPt:alert(1)",
  "  javascript:alert(1)  ",
  "javascript://example.com/%0aalert(1)",
  "data:text/html,<script>alert(1)</script>",
  "data:text/html;base64,PHNjcmlwdD4=",
  "file:///etc/passwd",
  "blob:https://example.com/0190f0c0",
  "vbscript:msgbox(1)",
  "ms-msdt:/id PCWDiagnostic",
  "Search-MS:query=menu&crumb=location:%5C%5Cevil.example",
  "jar:https://example.com/a.jar!/menu.html",
  "intent://example.com/#Intent;scheme=https;S.browser_fallback_url=https%3A%2F%2Fevil.example;end",
  "view-source:https://example.com",
  "microsoft-edge:https://example.com",
  "\u00a0javascript:alert(1)",
  "\ufeffJavaScript:alert(1)",
  "example.com",
  "example.com/menu",
  "example.com:8080/menu",
  "localhost:8080",
  "//example.com/menu",
  "/menu",
  "?menu",
  "#menu",
  "menu",
  ":",
  "://example.com",
  "1http://example.com",
  "ht tp://example.com",
  "http:",
  "http:/",
  "http://",
  "https:///menu",
  "https://?q",
  "https://#menu",
  "http:example.com",
  "http:\\\\example.com",
  "https://exa mple.com/",
  "https://exa<mple.com/",
  "https://example.com:99999/",
  "https://example.com:port/",
  "https://[::1/",
  "https://[g::1]/",
  "https://%zz/",
  "https://256.256.256.256/",
  "mailto:",
  "tel:",
];

const controlCharacters = ["\u0000", "\u0001", "\u0008", "\u001b", "\u007f", "\u0085"];

const wrongShortlinks = [
  "-",
  "_",
  "-menu",
  "menu-",
  "_menu",
  "menu_",
  "the menu",
  "me/nu",
  "../menu",
  "me.nu",
  "menü",
  "メニュー",
  "me%6eu",
  "menu?",
  "menu#",
  "me\nnu",
  "m".repeat(65),
  "m".repeat(2_000),
  "api",
  "API",
  "v1",
  "V1",
  ".well-known",
  "robots.txt",
  "favicon.ico",
  "Favicon.ICO",
  "health",
  "metrics",
  "docs",
  "openapi.json",
  "auth",
  "mcp",
  "_p",
];

const wrongIds = [
  "1",
  "menu",
  "null",
  "0190f0c0",
  "0190f0c0-6d3a-7c41-8e1f-3a5f0a9b1c2",
  "0190f0c0-6d3a-7c41-8e1f-3a5f0a9b1c2d0",
  "0190f0c0-6d3a-7c41-8e1f-3a5f0a9b1c2g",
  "{0190f0c0-6d3a-7c41-8e1f-3a5f0a9b1c2d}",
  "urn:uuid:0190f0c0-6d3a-7c41-8e1f-3a5f0a9b1c2d",
  "0190f0c06d3a7c418e1f3a5f0a9b1c2d",
  "0190f0c0_6d3a_7c41_8e1f_3a5f0a9b1c2d",
  "' or 1=1 --",
  "../0190f0c0-6d3a-7c41-8e1f-3a5f0a9b1c2d",
  "0".repeat(3_000),
];

/** The calls whose request has an id in a field of its own, with the rest of the request. */
const idFields: [rpc: string, field: string, rest: JsonObject][] = [
  ["LinksService/Get", "id", {}],
  ["LinksService/Update", "id", { name: "Menu", updateMask: "name" }],
  ["LinksService/Delete", "id", {}],
  ["WorkspaceTokensService/Get", "id", {}],
  ["WorkspaceTokensService/Update", "id", { name: "Tills", updateMask: "name" }],
  ["WorkspaceTokensService/Delete", "id", {}],
  ["EventsService/ListEventTraces", "eventId", {}],
];

/** The same for id fields that may be empty. */
const optionalIdFields: [rpc: string, field: string, rest: JsonObject][] = [
  ["LinksService/Create", "id", { destination }],
  ["LinksService/Create", "customDomainId", { destination }],
  ["LinksService/Create", "directoryId", { destination }],
  ["LinksService/Create", "qrcodeDesignId", { destination }],
  ["LinksService/Create", "qrcodeTemplateId", { destination }],
  ["LinksService/Update", "directoryId", { id: "«link»", updateMask: "directoryId" }],
  ["LinksService/Update", "pageThemeId", { id: "«link»", updateMask: "pageThemeId" }],
  ["LinksService/Update", "qrcodeTemplateId", { id: "«link»", updateMask: "qrcodeTemplateId" }],
  ["LinksService/List", "directoryId", {}],
  ["LinksService/ShortlinkAvailability", "customDomainId", { shortlink: "menu" }],
  ["EventsService/ListEvents", "linkId", {}],
  ["EventsService/ListEvents", "visitorId", {}],
];

const create = "LinksService/Create";
const update = "LinksService/Update";

const createCalls: BadCall[] = [
  invalid(create, {}, ["destination"]),
  invalid(create, { name: "Menu", tags: ["a"] }, ["destination"]),
  invalid(create, { destination: "" }, ["destination"]),
  invalid(create, { destination: "   " }, ["destination"]),
  ...[2_049, 10_000, 300_000].map((length) =>
    invalid(create, { destination: destination.padEnd(length, "a") }, ["destination"]),
  ),
  ...refusedDestinations.map((text) =>
    invalid(create, { destination: text }, ["destination"], "INVALID_DESTINATION"),
  ),
  ...controlCharacters.map((character) =>
    invalid(create, { destination: `${destination}${character}menu` }, ["destination"]),
  ),
  ...["javascript:alert(1)", "example.com", "https://"].map((text) =>
    invalid(
      create,
      { destination, fallbackDestination: text },
      ["fallbackDestination"],
      "INVALID_DESTINATION",
    ),
  ),
  invalid(create, { destination, fallbackDestination: destination.padEnd(2_049, "a") }, [
    "fallbackDestination",
  ]),
  ...wrongShortlinks.map((shortlink) =>
    invalid(create, { destination, shortlink }, ["shortlink"], "INVALID_SHORTLINK"),
  ),
  invalid(create, { destination, shortlink: "m".repeat(2_049) }, ["shortlink"]),
  invalid(create, { destination, id: "00000000-0000-0000-0000-000000000000" }, ["id"]),
  invalid(create, { destination, name: "a".repeat(256) }, ["name"]),
  ...controlCharacters.map((character) => invalid(create, { destination, name: `a${character}b` }, ["name"])),
  invalid(create, { destination, purpose: "a".repeat(2_001) }, ["purpose"]),
  invalid(create, { destination, tags: Array.from({ length: 21 }, (_, index) => `tag ${index}`) }, ["tags"]),
  invalid(create, { destination, tags: ["a", "", "b"] }, ["tags[1]"]),
  invalid(create, { destination, tags: ["   "] }, ["tags[0]"]),
  invalid(create, { destination, tags: ["a".repeat(51)] }, ["tags[0]"]),
  invalid(create, { destination, tags: ["a\u0000b", "c\u0007d"] }, ["tags[0]", "tags[1]"]),
  invalid(create, { destination, metadata: { "": "a" } }, ['metadata[""]']),
  invalid(create, { destination, metadata: { ["a".repeat(41)]: "b" } }, [`metadata.${"a".repeat(41)}`]),
  invalid(create, { destination, metadata: { table: "a".repeat(501) } }, ["metadata.table"]),
  invalid(create, { destination, metadata: { table: "a\u0000b" } }, ["metadata.table"]),
  invalid(
    create,
    {
      destination,
      metadata: Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`key${index}`, "a"])),
    },
    ["metadata"],
  ),
  invalid(create, { name: "a".repeat(256), purpose: "a".repeat(2_001), tags: ["", "b"], directoryId: "x" }, [
    "destination",
    "name",
    "purpose",
    "tags[0]",
    "directoryId",
  ]),
  {
    name: "a short link that is in use",
    rpc: create,
    request: { destination, shortlink: "«shortlink»" },
    code: "ALREADY_EXISTS",
    reason: "SHORTLINK_TAKEN",
  },
  {
    name: "a short link that another tenant uses",
    rpc: create,
    request: { destination, shortlink: "«foreign-shortlink»" },
    code: "ALREADY_EXISTS",
    reason: "SHORTLINK_TAKEN",
  },
  {
    name: "a short link of a deleted link",
    rpc: create,
    request: { destination, shortlink: "«deleted-shortlink»" },
    code: "ALREADY_EXISTS",
    reason: "SHORTLINK_TAKEN",
  },
  {
    name: "a short link that looks like an id",
    rpc: create,
    request: { destination, shortlink: unknownId },
    code: "ALREADY_EXISTS",
    reason: "SHORTLINK_TAKEN",
  },
  {
    name: "an id that is in use",
    rpc: create,
    request: { destination, id: "«link»" },
    code: "ALREADY_EXISTS",
    reason: "ID_TAKEN",
  },
];

const updateCalls: BadCall[] = [
  invalid(update, { id: "«link»", name: "", updateMask: "name" }, ["name"]),
  invalid(update, { id: "«link»", name: "a".repeat(256), updateMask: "name" }, ["name"]),
  invalid(update, { id: "«link»", purpose: "a".repeat(2_001), updateMask: "purpose" }, ["purpose"]),
  invalid(update, { id: "«link»", tags: [""], updateMask: "tags" }, ["tags[0]"]),
  invalid(
    update,
    { id: "«link»", fallbackDestination: "javascript:alert(1)", updateMask: "fallbackDestination" },
    ["fallbackDestination"],
    "INVALID_DESTINATION",
  ),
  invalid(
    update,
    { id: "«link»", tags: ["a"], tagsDelete: true, updateMask: "tags,tagsDelete" },
    ["tags"],
    "MUTUALLY_EXCLUSIVE_FIELDS",
  ),
  invalid(
    update,
    {
      id: "«link»",
      directoryId: unknownId,
      directoryIdDelete: true,
      updateMask: "directoryId,directoryIdDelete",
    },
    ["directoryId"],
    "MUTUALLY_EXCLUSIVE_FIELDS",
  ),
  invalid(
    update,
    {
      id: "«link»",
      qrcodeTemplateId: unknownId,
      qrcodeTemplateIdDelete: true,
      updateMask: "qrcodeTemplateId,qrcodeTemplateIdDelete",
    },
    ["qrcodeTemplateId"],
    "MUTUALLY_EXCLUSIVE_FIELDS",
  ),
  invalid("WorkspaceTokensService/Update", { id: "«token-id»", name: "", updateMask: "name" }, ["name"]),
  invalid("WorkspaceTokensService/Update", { id: "«token-id»", name: "a".repeat(101), updateMask: "name" }, [
    "name",
  ]),
];

const listCalls: BadCall[] = [
  invalid("LinksService/List", { pageSize: "-1" }, ["pageSize"]),
  invalid("LinksService/List", { pageSize: "-9223372036854775808" }, ["pageSize"]),
  invalid("LinksService/List", { search: "a".repeat(201) }, ["search"]),
  invalid("LinksService/List", { search: "a\u0000b" }, ["search"]),
  invalid("LinksService/List", { include: ["everything"] }, ["include[0]"]),
  invalid("LinksService/List", { include: ["tags", "Tags"] }, ["include[1]"]),
  invalid("LinksService/List", { tags: Array.from({ length: 21 }, (_, index) => `tag ${index}`) }, ["tags"]),
  invalid("LinksService/List", { tags: ["a".repeat(51)] }, ["tags[0]"]),
  invalid("LinksService/List", { pageToken: "a".repeat(4_097) }, ["pageToken"]),
  invalid("LinksService/Get", { id: "«link»", include: ["workspace"] }, ["include[0]"]),
  invalid("WorkspaceTokensService/List", { pageSize: "-1" }, ["pageSize"]),
  invalid("EventsService/ListEvents", { pageSize: "-5" }, ["pageSize"]),
  invalid("EventsService/ListEvents", { include: ["qrcodeDesign"] }, ["include[0]"]),
  invalid(
    "EventsService/ListEvents",
    { startDate: "2026-02-02T00:00:00Z", endDate: "2026-02-01T00:00:00Z" },
    ["startDate"],
  ),
  invalid("LinksService/ShortlinkAvailability", {}, ["shortlink"]),
  ...["-menu", "the menu", "menü", "m".repeat(65)].map((shortlink) =>
    invalid("LinksService/ShortlinkAvailability", { shortlink }, ["shortlink"], "INVALID_SHORTLINK"),
  ),
  invalid("WorkspaceTokensService/Create", {}, ["keyType"]),
  invalid("WorkspaceTokensService/Create", { name: "Tills" }, ["keyType"]),
  invalid(
    "WorkspaceTokensService/Create",
    { keyType: "WORKSPACE_TOKEN_KEY_TYPE_SECRET", name: "a".repeat(101) },
    ["name"],
  ),
  invalid("WorkspaceTokensService/Create", { keyType: "WORKSPACE_TOKEN_KEY_TYPE_SECRET", name: "a\u0000" }, [
    "name",
  ]),
];

/** Page tokens that are damaged or of another list; `world.ts` makes them from valid ones. */
const pageTokens = [
  "x",
  "====",
  "bm90aGluZw==",
  "bnVsbA==",
  "W10=",
  "e30=",
  "eyJfX3Byb3RvX18iOnt9fQ==",
  "«page-token cut»",
  "«page-token with another id»",
  "«page-token with a number as id»",
  "«page-token with another hash»",
  "«page-token without hash»",
  "«page-token with a wrong key»",
  "«page-token of a search»",
  "«page-token of another order»",
  "«page-token of another tenant»",
  "«page-token of tokens»",
];

const pageTokenCalls = [
  "LinksService/List",
  "WorkspaceTokensService/List",
  "EventsService/ListEvents",
].flatMap((rpc) =>
  pageTokens
    .filter((token) => rpc === "LinksService/List" || !token.endsWith("of tokens»"))
    .map((pageToken) => invalid(rpc, { pageToken }, ["pageToken"], "INVALID_PAGE_TOKEN")),
);

const idCalls: BadCall[] = [
  ...idFields.flatMap(([rpc, field, rest]) => [
    ...wrongIds.map((id) => invalid(rpc, { ...rest, [field]: id }, [field], "INVALID_ID")),
    { ...invalid(rpc, { ...rest, [field]: "" }, [field], "INVALID_ID"), notOverRest: true as const },
    missing(rpc, { ...rest, [field]: unknownId }),
  ]),
  ...optionalIdFields.map(([rpc, field, rest]) =>
    invalid(rpc, { ...rest, [field]: "menu" }, [field], "INVALID_ID"),
  ),
  ...["LinksService/Get", "LinksService/Delete"].map((rpc) => missing(rpc, { id: "«foreign-link»" })),
  missing(update, { id: "«foreign-link»", name: "Mine", updateMask: "name" }),
  missing("LinksService/Get", { id: "«deleted-link»" }),
  missing("LinksService/Delete", { id: "«deleted-link»" }),
  missing("WorkspaceTokensService/Get", { id: "«foreign-token-id»" }),
  missing("WorkspaceTokensService/Delete", { id: "«foreign-token-id»" }),
  ...["customDomainId", "directoryId", "qrcodeDesignId", "qrcodeTemplateId"].map((field) =>
    missing(create, { destination, [field]: unknownId }),
  ),
  ...["directoryId", "pageThemeId", "qrcodeTemplateId"].map((field) =>
    missing(update, { id: "«link»", [field]: unknownId, updateMask: field }),
  ),
  missing("LinksService/ShortlinkAvailability", { shortlink: "menu", customDomainId: unknownId }),
];

const maskCalls: BadCall[] = [
  "nothing",
  "destination",
  "id.x",
  "**",
  "name.first",
  "link.name",
  "shortlink",
].map((path) => ({
  ...invalid(update, { id: "«link»", name: "Menu", updateMask: path }, ["updateMask"]),
  notOverRest: true,
}));

export const badCalls: readonly BadCall[] = [
  ...createCalls,
  ...updateCalls,
  ...listCalls,
  ...pageTokenCalls,
  ...idCalls,
  ...maskCalls,
];
