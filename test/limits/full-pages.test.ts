import { type DescMethodUnary, fromJson, type JsonObject, toJson } from "@bufbuild/protobuf";
import { beforeAll, expect, test } from "vitest";
import { answerBytesMax } from "../../src/lib/paging/fill-page.ts";
import { newCall } from "../support/new-call.ts";
import { startApi, type TestWorkspace } from "../support/start-api.ts";
import { makers, type RecordKind, seeds } from "../support/tenant-records.ts";

/* Checks that every list ends its pages by bytes; `fat-pages.test.ts` shows why that matters. */

const api = await startApi();
let mine: TestWorkspace;
const own: Partial<Record<RecordKind, string>> = {};

const lists: DescMethodUnary[] = api.services
  .flatMap(({ service, unbuilt }) => service.methods.filter(({ localName }) => !unbuilt.has(localName)))
  .filter((method): method is DescMethodUnary => method.methodKind === "unary")
  .filter(({ input }) => input.fields.some(({ name }) => name === "page_token"));

const nameOf = (method: DescMethodUnary) => `${method.parent.name}.${method.name}`;

beforeAll(async () => {
  mine = await api.newWorkspace();
  const kinds = new Set(lists.flatMap((method) => seeds[nameOf(method)]?.lists ?? []));
  for (const kind of [...kinds, ...kinds]) own[kind] = await makers[kind](api, mine);
  const { json } = await mine.rest("GET", "/v1/qrcode-templates");
  for (const { id } of json.qrcodeTemplates)
    await mine.rest("POST", `/v1/qrcode-templates/${id}/publish`, {});
});

test.each(lists.map((method) => ({ method, name: nameOf(method) })))(
  "$name ends a page with the record that fills the answer, and goes on behind it",
  async ({ method, name }) => {
    const request = seeds[name]?.request(own as Record<RecordKind, string>) ?? {};
    const written: string[] = [];
    const ask = async (pageToken: string) => {
      const call = newCall({
        token: mine.token,
        // Pretends that each record takes most of an answer.
        writeRecord: (desc) => {
          written.push(desc.typeName);
          return answerBytesMax - 100_000;
        },
      });
      const message = fromJson(method.input, { ...(request as JsonObject), pageToken });
      const outcome = await api.invoke(method, () => message, call);
      if (!outcome.ok) throw outcome.error;
      const answer = toJson(method.output, outcome.message) as JsonObject;
      return (answer.json ?? answer) as JsonObject;
    };
    const found: string[] = [];
    for (let pageToken = ""; found.length < 2; ) {
      const page = await ask(pageToken);
      const records = Object.values(page).find((value) => Array.isArray(value)) as JsonObject[];
      expect(records).toHaveLength(1);
      found.push(JSON.stringify(records[0]));
      pageToken = String(page.nextPageToken ?? "");
      if (found.length < 2) expect(pageToken).not.toBe("");
    }
    expect(new Set(found).size).toBe(2);
    expect(written.length).toBeGreaterThan(2);
  },
);

test("some lists are tested", () => {
  expect(lists.length).toBeGreaterThan(7);
});
