import { randomUUID } from "node:crypto";
import type { JsonObject } from "@bufbuild/protobuf";
import { beforeEach, describe, expect, test } from "vitest";
import { LinksService } from "../../../gen/signpost/v1/links_service_pb.js";
import { ask } from "../../../test/support/ask.ts";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";

const api = await startApi();

let workspace: TestWorkspace;
beforeEach(async () => {
  workspace = await api.newWorkspace();
});

/** A link of a workspace, with an image unless it is still to be drawn. */
async function newLink({ rest }: TestWorkspace, qrcode_image_key: string | null): Promise<string> {
  const { json } = await rest("POST", "/v1/links", { destination: "https://example.com" });
  const { id } = json.link;
  await api.db.updateTable("links").set({ qrcode_image_key }).where("id", "=", id).execute();
  return id;
}

describe.each(["rest", "grpc"] as const)("over %s", (protocol) => {
  const resolve = (request: JsonObject) =>
    ask(api, protocol, LinksService.method.resolveQrcodeImages, request, workspace.token);

  test("images of links have fresh addresses; what is foreign, deleted, unknown or undrawn is left out", async () => {
    const [one, two] = [await newLink(workspace, "qrcodes/1.png"), await newLink(workspace, "qrcodes/2.png")];
    const undrawn = await newLink(workspace, null);
    const deleted = await newLink(workspace, "qrcodes/3.png");
    await workspace.rest("DELETE", `/v1/links/${deleted}`);
    const foreign = await newLink(await api.newWorkspace(), "qrcodes/4.png");
    const linkIds = [one, two, one, undrawn, deleted, foreign, randomUUID()];
    const { reason, body } = await resolve({ linkIds });
    expect([reason, body]).toEqual([
      "OK",
      {
        qrcodeSignedUrls: {
          [one]: expect.stringMatching(/^http:\/\/api\.test\/_p\/files\/qrcodes\/1\.png\?expires=/),
          [two]: expect.stringContaining("/qrcodes/2.png?expires="),
        },
      },
    ]);
  });

  test("1 to 1,000 ids are resolved at once", async () => {
    const ids = Array.from({ length: 1_001 }, () => randomUUID());
    expect((await resolve({ linkIds: ids.slice(1) })).body).toEqual({ qrcodeSignedUrls: {} });
    expect((await resolve({ linkIds: ids })).reason).toBe("INVALID_ARGUMENT");
    expect((await resolve({ linkIds: [] })).reason).toBe("INVALID_ARGUMENT");
    expect((await resolve({ linkIds: ["menu"] })).reason).toBe("INVALID_ID");
  });
});
