import type { JsonObject } from "@bufbuild/protobuf";
import { beforeEach, describe, expect, test } from "vitest";
import { QrcodeTemplatesService } from "../../../gen/signpost/v1/qrcode_templates_service_pb.js";
import { ask } from "../../../test/support/ask.ts";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { storeBuiltInTemplates } from "../../jobs/built-in-templates.ts";
import { builtInDesigns } from "../../qr/designs/built-in-designs.ts";

const api = await startApi();
await storeBuiltInTemplates(api.db, api.now());
const builtIn = builtInDesigns.map(({ name }) => name);

let mine: TestWorkspace;
let theirs: TestWorkspace;
beforeEach(async () => {
  await api.db.deleteFrom("qrcode_template_slugs").where("slug", "like", "shared-%").execute();
  [mine, theirs] = [await api.newWorkspace(), await api.newWorkspace()];
  const published_at = api.now();
  await api.db.updateTable("workspaces").set({ published_at }).where("id", "=", theirs.workspaceId).execute();
});

interface Template {
  readonly id: string;
  readonly name: string;
  readonly owned: boolean;
  readonly usageCount: string;
}

interface Listed {
  readonly qrcodeTemplates: readonly Template[];
  readonly nextPageToken: string;
  readonly totalCount: string;
}

async function create({ rest }: TestWorkspace, name: string): Promise<string> {
  const { json } = await rest("POST", "/v1/qrcode-templates", { name, description: "For menus" });
  return json.qrcodeTemplate.id;
}

async function publish({ rest }: TestWorkspace, name: string): Promise<string> {
  const id = await create({ rest } as TestWorkspace, name);
  await rest("PATCH", `/v1/qrcode-templates/${id}`, { slug: `shared-${id}` });
  expect((await rest("POST", `/v1/qrcode-templates/${id}/publish`)).status).toBe(200);
  return id;
}

async function use({ rest }: TestWorkspace, qrcodeTemplateId: string): Promise<string> {
  const body = { destination: "https://example.com", qrcodeTemplateId };
  const { status, json } = await rest("POST", "/v1/links", body);
  expect(status).toBe(200);
  return json.link.id;
}

const namesOf = ({ qrcodeTemplates }: Listed) => qrcodeTemplates.map(({ name }) => name);

describe.each(["rest", "grpc"] as const)("over %s", (protocol) => {
  const list = async (request: JsonObject = {}): Promise<Listed> => {
    const method = QrcodeTemplatesService.method.listQrcodeTemplates;
    const { reason, body } = await ask(api, protocol, method, request, mine.token);
    expect(reason).toBe("OK");
    return body as Listed;
  };
  const available = (request: JsonObject = {}) =>
    list({ scope: "QRCODE_TEMPLATE_SCOPE_AVAILABLE", ...request });

  test("the workspace's own are listed when nothing else is asked for, with their number", async () => {
    await publish(theirs, "Theirs");
    await create(mine, "First");
    await create(mine, "Second");
    for (const scope of ["QRCODE_TEMPLATE_SCOPE_UNSPECIFIED", "QRCODE_TEMPLATE_SCOPE_WORKSPACE"]) {
      const listed = await list({ scope });
      expect(namesOf(listed)).toEqual(["Second", "First"]);
      expect(listed.totalCount).toBe("2");
    }
    expect(await list({ pageSize: "1", search: "first" })).toMatchObject({ totalCount: "1" });
  });

  test("all that can be used are listed by use, own ones before others, the newest first, on any pages", async () => {
    const [shared, liked] = [await publish(theirs, "Shared"), await publish(theirs, "Liked")];
    await create(theirs, "Private");
    const [old, often] = [await create(mine, "Old"), await create(mine, "Often")];
    await create(mine, "New");
    for (const id of [often, often, liked, old]) await use(mine, id);
    const gone = await use(mine, shared);
    await mine.rest("DELETE", `/v1/links/${gone}`);
    await use(theirs, shared);
    const wanted = ["Often", "Old", "Liked", "New", "Shared", ...builtIn];
    const whole = await available();
    expect(namesOf(whole)).toEqual(wanted);
    expect(whole.qrcodeTemplates.slice(0, 5).map(({ owned, usageCount }) => [owned, usageCount])).toEqual([
      [true, "2"],
      [true, "1"],
      [false, "1"],
      [true, "0"],
      [false, "0"],
    ]);
    for (const pageSize of ["1", "2", "3"]) {
      const seen: string[] = [];
      let pageToken = "";
      do {
        const page = await available({ pageSize, pageToken });
        expect(page.totalCount).toBe(String(wanted.length));
        seen.push(...namesOf(page));
        pageToken = page.nextPageToken;
      } while (pageToken !== "");
      expect(seen).toEqual(wanted);
    }
  });

  test("a search counts in each part, and so does what is embedded", async () => {
    const liked = await publish(theirs, "Autumn by them");
    await create(mine, "Autumn by us");
    await create(mine, "Winter");
    await use(mine, liked);
    const found = await available({ search: "AUTUMN", include: ["qrcodeDesign"] });
    expect(namesOf(found)).toEqual(["Autumn by them", "Autumn by us"]);
    expect(found.totalCount).toBe("2");
    for (const template of found.qrcodeTemplates)
      expect(template).toMatchObject({ qrcodeDesign: { width: 512 } });
  });
});

test("a template tells its use and its owner wherever it is answered", async () => {
  const id = await create(mine, "Ours");
  const path = `/v1/qrcode-templates/${id}`;
  await use(mine, id);
  expect((await mine.rest("GET", path)).json).toMatchObject({ owned: true, usageCount: "1" });
  const changed = await mine.rest("PATCH", path, { name: "Renamed" });
  expect(changed.json.qrcodeTemplate).toMatchObject({ owned: true, usageCount: "1" });
  const shared = await publish(theirs, "Shared");
  const seen = await mine.rest("GET", `/v1/qrcode-templates/${shared}`);
  expect(seen.json).toMatchObject({ owned: false, usageCount: "0" });
});

test("a page token that no page wrote is refused", async () => {
  await create(mine, "Ours");
  const path = "/v1/qrcode-templates?scope=QRCODE_TEMPLATE_SCOPE_AVAILABLE&pageSize=1";
  const { json } = await mine.rest("GET", path);
  const token = JSON.parse(Buffer.from(json.nextPageToken, "base64").toString());
  for (const k of ["", "1", "1/x", "-1/5", `${"9".repeat(19)}/5`, "1/999999999999999"]) {
    const forged = Buffer.from(JSON.stringify({ ...token, k })).toString("base64");
    const refused = await mine.rest("GET", `${path}&pageToken=${encodeURIComponent(forged)}`);
    expect([refused.status, refused.json.error.codeType]).toEqual([400, "INVALID_PAGE_TOKEN"]);
  }
});
