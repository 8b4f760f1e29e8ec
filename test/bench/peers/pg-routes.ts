import { randomBytes } from "node:crypto";
import http from "node:http";
import { text } from "node:stream/consumers";
import pg from "pg";
import { v7 } from "uuid";
import { announce } from "./announce.ts";
import { createStatement, type LinkIds, readStatement, type Statement } from "./statements.ts";

// A minimal handwritten server with two routes: the statements of the service, on a pool of the same size.
interface Options {
  readonly database: pg.ClientConfig;
  readonly poolSize: number;
  readonly workspaceId: string;
  readonly accessToken: string;
  readonly shortUrl: string;
}

const options: Options = JSON.parse(process.argv[2] ?? "");
const { workspaceId } = options;
const pool = new pg.Pool({ ...options.database, max: options.poolSize });
const authorization = `Bearer ${options.accessToken}`;
const idForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

// The places of the ids among the parameters are found by unique sample ids.
const sampleIds: LinkIds = { ...newIds(), at: new Date(1) };
const sampleDestination = "https://example.com/sample";
const [reading, creating] = await Promise.all([
  readStatement(workspaceId, sampleIds.id),
  createStatement(workspaceId, sampleDestination, sampleIds),
]);

function newIds(): LinkIds {
  const shortlink = randomBytes(6).toString("hex");
  return { id: v7(), entryStepId: v7(), redirectStepId: v7(), designId: v7(), shortlink, at: new Date() };
}

async function readLink(id: string) {
  const { rows } = await pool.query(reading.text, [workspaceId, id]);
  return rows[0] && toLink(rows[0]);
}

async function createLink(destination: string) {
  const ids = newIds();
  const values = fill(creating, ids, destination);
  const { rows } = await pool.query({ name: "create", text: creating.text, values });
  if (rows[0]?.claimed.length !== 1) throw new Error("the short link is taken");
  return {
    link: toLink({
      id: ids.id,
      workspace_id: workspaceId,
      name: "example.com/menu",
      shortlink: ids.shortlink,
      qrcode_design_id: ids.designId,
      qrcode_pending_update_since: ids.at,
      created_at: ids.at,
      updated_at: ids.at,
    }),
    workflowSteps: [
      { id: ids.entryStepId, linkId: ids.id, eventAction: "EVENT_ACTION_LINK_VISIT" },
      { id: ids.redirectStepId, linkId: ids.id, eventAction: "EVENT_ACTION_CLIENT_REDIRECT", destination },
    ],
  };
}

function fill({ values }: Statement, ids: LinkIds, destination: string): unknown[] {
  const names = ["id", "entryStepId", "redirectStepId", "designId", "shortlink"] as const;
  return values.map((value) => {
    if (value instanceof Date) return value.getTime() === sampleIds.at.getTime() ? ids.at : value;
    if (typeof value !== "string") return value;
    // The service sends its new links as one JSON text.
    const own = names.reduce((some, name) => some.replaceAll(sampleIds[name], ids[name]), value);
    return own.replace(sampleDestination, destination);
  });
}

function toLink(row: Record<string, unknown>) {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    name: row.name,
    purpose: row.purpose ?? "",
    shortlink: row.shortlink,
    entrypoint: `${options.shortUrl}/${row.shortlink}`,
    customDomainId: row.custom_domain_id ?? "",
    fallbackDestination: row.fallback_destination ?? "",
    directoryId: row.directory_id ?? "",
    metadata: row.metadata ?? {},
    qrcodeDesignId: row.qrcode_design_id,
    qrcodeTemplateId: row.qrcode_template_id ?? "",
    pageThemeId: row.page_theme_id ?? "",
    eventCount: row.event_count ?? "0",
    qrcodePendingUpdateSince: row.qrcode_pending_update_since,
    tags: [],
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

async function answer(req: http.IncomingMessage): Promise<{ status: number; body: unknown }> {
  const url = req.url ?? "";
  if (req.headers.authorization !== authorization) return { status: 401, body: { code: "UNAUTHENTICATED" } };
  if (req.method === "POST" && url === "/v1/links") {
    const { destination } = JSON.parse(await text(req));
    if (!URL.canParse(destination)) return { status: 400, body: { code: "INVALID_ARGUMENT" } };
    return { status: 200, body: await createLink(destination) };
  }
  const id = url.startsWith("/v1/links/") ? url.slice("/v1/links/".length) : "";
  const link = idForm.test(id) ? await readLink(id) : undefined;
  return link ? { status: 200, body: { link } } : { status: 404, body: { code: "NOT_FOUND" } };
}

const server = http.createServer((req, res) => {
  void answer(req)
    .catch((error: unknown) => ({ status: 500, body: { code: "INTERNAL", message: String(error) } }))
    .then(({ status, body }) => {
      res.writeHead(status, { "content-type": "application/json" });
      res.end(JSON.stringify(body));
    });
});
announce(server);
