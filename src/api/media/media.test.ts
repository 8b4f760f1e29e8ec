import { randomUUID } from "node:crypto";
import { ConnectError } from "@connectrpc/connect";
import sharp from "sharp";
import { beforeEach, describe, expect, test } from "vitest";
import { ErrorInfoSchema } from "../../../gen/google/rpc/error_details_pb.js";
import { Media_Type, Media_Visibility } from "../../../gen/signpost/v1/media_pb.js";
import { MediaService } from "../../../gen/signpost/v1/media_service_pb.js";
import { startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { sweepFiles } from "../../db/file-checks.ts";

const api = await startApi();
const { clock, db, storage } = api;

let workspace: TestWorkspace;
let rest: TestWorkspace["rest"];
beforeEach(async () => {
  workspace = await api.newWorkspace();
  rest = workspace.rest;
});

function flat(width = 30, height = 20) {
  return sharp({ create: { width, height, channels: 3, background: "#c0ffee" } });
}

const png = await flat().png().toBuffer();
const jpeg = await flat().jpeg().toBuffer();

function upload(fields: object = {}) {
  return rest("POST", "/v1/media", { fileData: png.toString("base64"), mediaType: "TYPE_BADGE", ...fields });
}

/** Fetches from an address that the API gave. */
function fetchFile(url: string) {
  return fetch(url.replace("http://api.test", `http://127.0.0.1:${api.port}`));
}

describe("upload", () => {
  test("answers a record whose address gives the image", async () => {
    const { status, json } = await upload();
    expect(status).toBe(200);
    expect(json.media).toMatchObject({
      workspaceId: workspace.workspaceId,
      mediaType: "TYPE_BADGE",
      visibility: "VISIBILITY_PRIVATE",
      fileName: "badge.png",
      mimeType: "image/png",
      uploadedBy: "",
      createdAt: json.media.updatedAt,
    });
    const file = await fetchFile(json.media.signedUrl);
    expect(file.headers.get("content-type")).toBe("image/png");
    const bytes = Buffer.from(await file.arrayBuffer());
    expect(String(bytes.length)).toBe(json.media.size);
    expect(await sharp(bytes).metadata()).toMatchObject({ format: "png", width: 30, height: 20 });
  });

  test("is the same over gRPC", async () => {
    const client = workspace.client(MediaService);
    const { media } = await client.create({
      fileData: jpeg,
      mediaType: Media_Type.BACKGROUND_COVER,
      fileName: "beach at noon.jpeg",
    });
    expect(media).toMatchObject({
      mediaType: Media_Type.BACKGROUND_COVER,
      visibility: Media_Visibility.PRIVATE,
      fileName: "beach at noon.jpeg",
      mimeType: "image/jpeg",
    });
    const { json } = await rest("GET", `/v1/media/${media?.id}`);
    expect(json.media).toMatchObject({ id: media?.id, size: String(media?.size) });
  });

  test("takes the type from the first bytes, whatever the name says", async () => {
    const { json } = await upload({ fileData: jpeg.toString("base64"), fileName: "really.png" });
    expect(json.media).toMatchObject({ fileName: "really.png", mimeType: "image/jpeg" });
    const unnamed = await upload({
      fileData: jpeg.toString("base64"),
      mediaType: "TYPE_CENTRAL_QRCODE_IMAGE",
    });
    expect(unnamed.json.media.fileName).toBe("central-qrcode-image.jpg");
  });

  test("keeps two files of the same content and name apart", async () => {
    const [one, other] = [await upload({ fileName: "a.png" }), await upload({ fileName: "a.png" })];
    expect(one.json.media.id).not.toBe(other.json.media.id);
    await rest("DELETE", `/v1/media/${one.json.media.id}`);
    expect((await fetchFile(other.json.media.signedUrl)).status).toBe(200);
  });

  test("says since when camera and place are unknown: they are not in the file", async () => {
    const exif = { IFD0: { Make: "A camera" }, IFD3: { GPSLatitude: "50/1 5/1 0/1" } };
    const photo = await flat().jpeg().withExif(exif).toBuffer();
    const { json } = await upload({ fileData: photo.toString("base64") });
    const bytes = Buffer.from(await (await fetchFile(json.media.signedUrl)).arrayBuffer());
    expect((await sharp(bytes).metadata()).exif).toBeUndefined();
  });

  const refused = [
    ["a WEBP", async () => flat().webp().toBuffer(), "must be a PNG or JPEG image"],
    ["an SVG", async () => Buffer.from("<svg/>"), "must be a PNG or JPEG image"],
    ["half a file", async () => png.subarray(0, 60), "cannot be read: save the image again"],
    ["too many pixels", async () => flat(8_001, 1).png().toBuffer(), "must have at most 8,000 pixels a side"],
  ] as const;

  test.each(refused)(
    "refuses %s and names the field, over REST and gRPC",
    async (_name, make, description) => {
      const fileData = await make();
      const { status, json } = await upload({ fileData: fileData.toString("base64") });
      expect(status).toBe(400);
      expect(json.error.details).toContainEqual({
        "@type": "type.googleapis.com/google.rpc.BadRequest",
        fieldViolations: [{ field: "fileData", description }],
      });
      const call = workspace.client(MediaService).create({ fileData, mediaType: Media_Type.BADGE });
      const error = await call.then(() => undefined, ConnectError.from);
      expect(error?.rawMessage).toBe(`fileData: ${description}`);
      expect(error?.findDetails(ErrorInfoSchema)[0]?.reason).toBe("INVALID_ARGUMENT");
    },
  );

  test("refuses a file of no type, none at all, and one of more than 3 MiB", async () => {
    for (const fields of [
      { mediaType: "TYPE_UNSPECIFIED" },
      { fileData: "" },
      { fileData: Buffer.alloc(3 * 1024 * 1024 + 1).toString("base64") },
    ]) {
      expect((await upload(fields)).status).toBe(400);
    }
  });

  test("leaves nothing behind when it is repeated under the same key", async () => {
    const key = { "idempotency-key": "once" };
    const body = { fileData: png.toString("base64"), mediaType: "TYPE_BADGE" };
    const first = await rest("POST", "/v1/media", body, key);
    const second = await rest("POST", "/v1/media", body, key);
    expect(second.json).toEqual(first.json);
    expect((await rest("GET", "/v1/media")).json.media).toHaveLength(1);
  });
});

describe("addresses", () => {
  test("of private files end after an hour", async () => {
    const { json } = await upload();
    expect((await fetchFile(json.media.signedUrl.replace(/signature=.*/, ""))).status).toBe(403);
    clock.advance(61 * 60 * 1000);
    expect((await fetchFile(json.media.signedUrl)).status).toBe(403);
    const { media } = (await rest("GET", `/v1/media/${json.media.id}`)).json;
    expect((await fetchFile(media.signedUrl)).status).toBe(200);
  });

  test("of public files stay the same", async () => {
    const { json } = await upload({ visibility: "VISIBILITY_PUBLIC" });
    expect(json.media.visibility).toBe("VISIBILITY_PUBLIC");
    clock.advance(24 * 60 * 60 * 1000);
    const { media } = (await rest("GET", `/v1/media/${json.media.id}`)).json;
    expect(media.signedUrl).toBe(json.media.signedUrl);
    expect((await fetchFile(media.signedUrl)).status).toBe(200);
  });

  test("of private files do not work as public ones", async () => {
    const { json } = await upload();
    const [path] = json.media.signedUrl.split("?");
    expect((await fetchFile(path)).status).toBe(403);
    expect((await fetchFile(path.replace("/media/", "/public/media/"))).status).toBe(404);
  });
});

describe("list", () => {
  test("is newest first, in pages", async () => {
    const ids: string[] = [];
    for (let made = 0; made < 3; made++) ids.unshift((await upload()).json.media.id);
    const first = (await rest("GET", "/v1/media?pageSize=2")).json;
    const second = (
      await rest("GET", `/v1/media?pageSize=2&pageToken=${encodeURIComponent(first.nextPageToken)}`)
    ).json;
    const listed = [...first.media, ...second.media].map(({ id }: { id: string }) => id);
    expect(listed).toEqual(ids);
    expect(second.nextPageToken).toBe("");
  });
});

describe("delete", () => {
  test("removes the record and the file at once, at every address", async () => {
    for (const visibility of ["VISIBILITY_PUBLIC", "VISIBILITY_PRIVATE"]) {
      const { media } = (await upload({ visibility })).json;
      expect((await fetchFile(media.signedUrl)).status).toBe(200);
      expect((await rest("DELETE", `/v1/media/${media.id}`)).json).toEqual({});
      expect((await rest("GET", `/v1/media/${media.id}`)).status).toBe(404);
      expect((await rest("DELETE", `/v1/media/${media.id}`)).status).toBe(404);
      expect((await fetchFile(media.signedUrl)).status).toBe(404);
    }
  });

  test("succeeds while the storage is away, and the file goes with the next clean-up", async () => {
    const away = { ...storage, delete: () => Promise.reject(new Error("no answer")) };
    const second = await startApi({ database: api.database, clock, deps: { storage: away } });
    const { media } = (await upload()).json;
    const call = second.rest(workspace.token);
    expect((await call("DELETE", `/v1/media/${media.id}`)).json).toEqual({});
    const key = `media/${workspace.workspaceId}/${media.id}.png`;
    expect(await storage.get(key)).toBeDefined();
    clock.advance(3 * 60 * 60 * 1000);
    while ((await sweepFiles(db, { storage, now: clock.now })) > 0);
    expect(await storage.get(key)).toBeUndefined();
  });

  test("of a file that a theme uses is refused", async () => {
    const [cover, badge] = [(await upload()).json.media.id, (await upload()).json.media.id];
    const at = api.now();
    const theme = { workspace_id: workspace.workspaceId, id: randomUUID(), created_at: at, updated_at: at };
    const styling = JSON.stringify({ canvasCoverId: cover, badgeId: badge });
    await db
      .insertInto("page_themes")
      .values({ ...theme, styling })
      .execute();
    for (const id of [cover, badge]) {
      const { status, json } = await rest("DELETE", `/v1/media/${id}`);
      expect([status, json.error.codeType]).toEqual([412, "MEDIA_IN_USE"]);
      expect((await rest("GET", `/v1/media/${id}`)).status).toBe(200);
    }
  });
});

describe("files to look at again", () => {
  test("go when the call that stored them failed, with an idempotency key too", async () => {
    const stored: string[] = [];
    const unsure: typeof storage = {
      ...storage,
      async put(key, ...file) {
        await storage.put(key, ...file);
        stored.push(key);
        throw new Error("no answer");
      },
    };
    const second = await startApi({ database: api.database, clock, deps: { storage: unsure } });
    const body = { fileData: png.toString("base64"), mediaType: "TYPE_BADGE" };
    for (const headers of [{}, { "idempotency-key": "badge" }]) {
      const { status } = await second.rest(workspace.token)("POST", "/v1/media", body, headers);
      expect(status).toBe(500);
    }
    const left = async () =>
      (await Promise.all(stored.map((key) => storage.get(key)))).filter(Boolean).length;
    expect(await left()).toBe(2);
    clock.advance(3 * 60 * 60 * 1000);
    while ((await sweepFiles(db, { storage, now: clock.now })) > 0);
    expect(await left()).toBe(0);
  });

  test("do not keep each other waiting when calls with idempotency keys hold all connections", async () => {
    const body = { fileData: png.toString("base64"), mediaType: "TYPE_BADGE" };
    const uploads = Array.from({ length: api.database.pool.options.max }, (_, index) =>
      rest("POST", "/v1/media", body, { "idempotency-key": `upload-${index}` }),
    );
    expect(new Set((await Promise.all(uploads)).map(({ status }) => status))).toEqual(new Set([200]));
  });

  test("stay as long as a record refers to them", async () => {
    const { media } = (await upload()).json;
    clock.advance(3 * 60 * 60 * 1000);
    expect(await sweepFiles(db, { storage, now: clock.now })).toBeGreaterThan(0);
    expect(await sweepFiles(db, { storage, now: clock.now })).toBe(0);
    const { json } = await rest("GET", `/v1/media/${media.id}`);
    expect((await fetchFile(json.media.signedUrl)).status).toBe(200);
  });

  test("go when no record was written for them", async () => {
    const { checkFileLater } = await import("../../db/file-checks.ts");
    const key = "media/orphan.png";
    const file = { workspaceId: workspace.workspaceId, key, ownerId: randomUUID() };
    await checkFileLater(db, file, clock.now());
    await storage.put(key, png, { contentType: "image/png" });
    clock.advance(3 * 60 * 60 * 1000);
    await sweepFiles(db, { storage, now: clock.now });
    expect(await storage.get(key)).toBeUndefined();
  });
});
