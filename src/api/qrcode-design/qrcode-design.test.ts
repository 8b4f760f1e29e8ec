import { randomUUID } from "node:crypto";
import { ConnectError } from "@connectrpc/connect";
import sharp from "sharp";
import { beforeEach, describe, expect, test } from "vitest";
import { ErrorInfoSchema, PreconditionFailureSchema } from "../../../gen/google/rpc/error_details_pb.js";
import { DotsType, QrcodeDesign_Shape } from "../../../gen/signpost/v1/qrcode_design_pb.js";
import { QrcodeDesignService } from "../../../gen/signpost/v1/qrcode_design_service_pb.js";
import { readWithZxing } from "../../../test/support/qr-readers.ts";
import { type Reply, startApi, type TestWorkspace } from "../../../test/support/start-api.ts";
import { sweepFiles } from "../../db/file-checks.ts";
import { deleteUnclaimedDesigns } from "../../jobs/delete-unclaimed-designs.ts";
import { renderQrcode } from "../../jobs/pictures/render-qrcode.ts";

const api = await startApi();
const { clock, db, storage } = api;
const anyone = api.rest();

let workspace: TestWorkspace;
let rest: TestWorkspace["rest"];
beforeEach(async () => {
  workspace = await api.newWorkspace();
  rest = workspace.rest;
});

const logo = await sharp({ create: { width: 60, height: 40, channels: 3, background: "#d62828" } })
  .png()
  .toBuffer();
const centralImageData = logo.toString("base64");

function solid(color: string) {
  return { themeColor: { type: "THEME_COLOR_TYPE_SOLID", colors: [color] } };
}

/** White on white. */
const unreadable = { dotsOptions: solid("#ffffff"), backgroundOptions: solid("#fefefe") };

function createDesign(fields: object = {}, call = anyone): Promise<Reply> {
  return call("POST", "/v1/public/qrcode-designs", fields);
}

async function createLink(fields: object = {}) {
  const { status, json } = await rest("POST", "/v1/links", { destination: "https://example.com", ...fields });
  expect(status, JSON.stringify(json)).toBe(200);
  return json.link;
}

async function readLink(id: string) {
  return (await rest("GET", `/v1/links/${id}?include=qrcodeDesign,qrcodeSignedUrl`)).json.link;
}

/** Does what the worker does for a link. */
async function draw(linkId: string): Promise<void> {
  const task = renderQrcode({ db, storage, now: clock.now, shortUrl: "https://short.test" });
  await task({ workspaceId: workspace.workspaceId, linkId }, new AbortController().signal);
}

async function fetchFile(url: string) {
  return fetch(url.replace("http://api.test", `http://127.0.0.1:${api.port}`));
}

async function bytesAt(url: string): Promise<Buffer> {
  const res = await fetchFile(url);
  expect(res.status).toBe(200);
  return Buffer.from(await res.arrayBuffer());
}

describe("create", () => {
  test("needs no token and nothing, and answers the defaults, readable", async () => {
    const { status, json } = await createDesign();
    expect(status).toBe(200);
    expect(json.qrcodeDesign).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      shape: "SHAPE_SQUARE",
      dotsOptions: {
        type: "DOTS_TYPE_SQUARE",
        themeColor: { type: "THEME_COLOR_TYPE_SOLID", colors: ["#000000"], stops: [], direction: "" },
      },
      cornersSquareOptions: { type: "CORNERS_SQUARE_TYPE_SQUARE", sharpCorners: false },
      cornersDotOptions: { type: "CORNERS_DOT_TYPE_SQUARE" },
      backgroundOptions: {
        themeColor: { type: "THEME_COLOR_TYPE_SOLID", colors: ["#ffffff"], stops: [], direction: "" },
      },
      centralImageSignedUrl: "",
      centralImageSize: 0.4,
      centralImageMargin: 0,
      hideBackgroundDots: true,
      errorCorrectionLevel: "Q",
      width: 512,
      height: 512,
      outputFileFormat: "OUTPUT_FILE_FORMAT_PNG",
      createdAt: json.qrcodeDesign.updatedAt,
      updatedAt: json.qrcodeDesign.updatedAt,
    });
    expect(json.scannability).toMatchObject({
      grade: "SCANNABILITY_GRADE_A",
      readable: true,
      failingCase: "",
      causes: [],
      changes: [],
    });
  });

  test("keeps what it is given", async () => {
    const gradient = {
      type: "THEME_COLOR_TYPE_LINEAR",
      colors: ["#1d3557", "rgb(10, 20, 30)"],
      stops: ["0%", "100%"],
      direction: "45deg",
    };
    const fields = {
      shape: "SHAPE_CIRCLE",
      dotsOptions: { type: "DOTS_TYPE_CLASSY", themeColor: gradient },
      cornersSquareOptions: { type: "CORNERS_SQUARE_TYPE_LEAF", sharpCorners: true, ...solid("#e63946") },
      cornersDotOptions: { type: "CORNERS_DOT_TYPE_STAR" },
      backgroundOptions: solid("hsl(120, 10%, 95%)"),
      centralImageSize: 0.25,
      centralImageMargin: 4,
      hideBackgroundDots: false,
      errorCorrectionLevel: "H",
      width: 800,
      height: 600,
      outputFileFormat: "OUTPUT_FILE_FORMAT_SVG",
    };
    const { json } = await createDesign(fields);
    expect(json.qrcodeDesign).toMatchObject(fields);
    expect((await rest("GET", `/v1/qrcode-designs/${json.qrcodeDesign.id}`)).json).toEqual({
      qrcodeDesign: json.qrcodeDesign,
    });
  });

  test("is the same over gRPC", async () => {
    const client = api.client(QrcodeDesignService);
    const { qrcodeDesign, scannability } = await client.publicCreate({
      shape: QrcodeDesign_Shape.CIRCLE,
      dotsOptions: { type: DotsType.ROUNDED },
      hideBackgroundDots: false,
    });
    expect(qrcodeDesign).toMatchObject({
      shape: QrcodeDesign_Shape.CIRCLE,
      hideBackgroundDots: false,
      width: 512,
    });
    expect(qrcodeDesign?.dotsOptions).toMatchObject({ type: DotsType.ROUNDED });
    expect(scannability?.readable).toBe(true);
  });

  test("stores a picture for the middle as PNG, with error correction Q at least", async () => {
    const svg =
      '<svg xmlns="http://www.w3.org/2000/svg" width="24" height="24"><circle cx="12" cy="12" r="9"/></svg>';
    const files = [
      logo,
      await sharp(logo).jpeg().toBuffer(),
      await sharp(logo).webp().toBuffer(),
      Buffer.from(svg),
    ];
    for (const file of files) {
      const { json } = await createDesign({
        centralImageData: file.toString("base64"),
        errorCorrectionLevel: "L",
      });
      expect(json.qrcodeDesign.errorCorrectionLevel).toBe("Q");
      const png = await bytesAt(json.qrcodeDesign.centralImageSignedUrl);
      expect((await sharp(png).metadata()).format).toBe("png");
      expect(json.qrcodeDesign).not.toHaveProperty("centralImageKey");
    }
  });

  const wrong = [
    ["centralImageData", { centralImageData: Buffer.from("<svg><script/></svg>").toString("base64") }],
    ["centralImageData", { centralImageData: Buffer.from("GIF89a").toString("base64") }],
    ["centralImageSize", { centralImageSize: 0.51 }],
    ["width", { width: 63 }],
    ["height", { height: 4_097 }],
    ["errorCorrectionLevel", { errorCorrectionLevel: "X" }],
    ["dotsOptions.themeColor.colors[0]", { dotsOptions: solid("red") }],
    [
      "backgroundOptions.themeColor",
      { backgroundOptions: { themeColor: { type: "THEME_COLOR_TYPE_LINEAR", colors: ["#fff"] } } },
    ],
  ] as const;

  test.each(wrong)("refuses a wrong %s by its name: %j", async (field, fields) => {
    const { status, json } = await createDesign(fields);
    expect([status, json.error.codeType]).toEqual([400, "INVALID_ARGUMENT"]);
    expect(JSON.stringify(json.error.details)).toContain(`"field":"${field}"`);
  });
});

describe("scannability", () => {
  test("is a warning, with the causes, for a design that cannot be read", async () => {
    const { status, json } = await createDesign(unreadable);
    expect(status).toBe(200);
    expect(json.scannability).toMatchObject({ readable: false, failingCase: "as drawn" });
    expect(json.scannability.score).toBeLessThan(50);
    expect(json.scannability.causes).toContainEqual({
      cause: "SCANNABILITY_CAUSE_KIND_CONTRAST",
      message: expect.stringMatching(/./),
    });
    const verified = await rest("GET", `/v1/qrcode-designs/${json.qrcodeDesign.id}/scannability`);
    expect(verified.json).toEqual({ scannability: json.scannability });
  });

  test("says who reads a design, and the smallest change that gives the next grade", async () => {
    const round = { type: "CORNERS_SQUARE_TYPE_DOT" };
    const { json } = await createDesign({ cornersSquareOptions: round, requireScannable: true });
    expect(json.scannability).toMatchObject({ grade: "SCANNABILITY_GRADE_B", readable: true });
    const passed = json.scannability.classes.map((one: { readerClass: string; passed: boolean }) => [
      one.readerClass.replace("SCANNABILITY_READER_CLASS_", ""),
      one.passed,
    ]);
    expect(passed).toEqual([
      ["PHONE", true],
      ["WEB", true],
      ["MACHINE_VISION", false],
    ]);
    expect(json.scannability.changes).toEqual([
      { field: "cornersSquareOptions.sharpCorners", value: "true", message: expect.stringMatching(/./) },
    ]);
    const changed = await createDesign({ cornersSquareOptions: { ...round, sharpCorners: true } });
    expect(changed.json.qrcodeDesign.cornersSquareOptions).toMatchObject({ ...round, sharpCorners: true });
    expect(changed.json.scannability).toMatchObject({ grade: "SCANNABILITY_GRADE_A", changes: [] });
  });

  test("refuses such a design when the caller asks for it, in every call, and changes nothing", async () => {
    const refused = async (reply: Reply) => {
      expect([reply.status, reply.json.error.codeType]).toEqual([412, "DESIGN_NOT_SCANNABLE"]);
      expect(reply.json.error.details).toContainEqual({
        "@type": "type.googleapis.com/google.rpc.PreconditionFailure",
        violations: expect.arrayContaining([
          { type: "CONTRAST", subject: "qrcodeDesign", description: expect.stringMatching(/./) },
        ]),
      });
    };
    await refused(await createDesign({ ...unreadable, requireScannable: true }));

    const link = await createLink();
    const path = `/v1/qrcode-designs/${link.qrcodeDesignId}`;
    const before = (await rest("GET", path)).json;
    await refused(await rest("PATCH", path, { ...unreadable, requireScannable: true }));
    const templateId = await addTemplate(unreadable);
    await refused(
      await rest("POST", "/v1/qrcode-designs/apply-template", {
        linkId: link.id,
        qrcodeTemplateId: templateId,
        requireScannable: true,
      }),
    );
    expect((await rest("GET", path)).json).toEqual(before);
  });

  test("tells gRPC callers the same", async () => {
    const call = api.client(QrcodeDesignService).publicCreate({
      dotsOptions: { themeColor: { type: 1, colors: ["#fff"] } },
      requireScannable: true,
    });
    const error = await call.then(() => undefined, ConnectError.from);
    expect(error?.findDetails(ErrorInfoSchema)[0]).toMatchObject({
      reason: "DESIGN_NOT_SCANNABLE",
      metadata: { failingCase: "as drawn" },
    });
    const [failure] = error?.findDetails(PreconditionFailureSchema) ?? [];
    expect(failure?.violations.map(({ type }) => type)).toContain("CONTRAST");
  });

  test("of a link's design is that of the link's own code", async () => {
    // The longer the address, the smaller the dots in the same number of pixels.
    const long = Array.from({ length: 4 }, () => "d".repeat(55)).join(".");
    const links = [
      await createLink({ shortlink: "tiny" }),
      await createLink({ customDomainId: await addDomain(`${long}.example`) }),
    ];
    const readable = [];
    for (const { qrcodeDesignId } of links) {
      const { json } = await rest("PATCH", `/v1/qrcode-designs/${qrcodeDesignId}`, { width: 80, height: 80 });
      readable.push(json.scannability.readable);
    }
    expect(readable).toEqual([true, false]);
  });
});

async function addDomain(name: string): Promise<string> {
  const [id, at] = [randomUUID(), clock.now()];
  const own = { workspace_id: workspace.workspaceId, id, created_at: at, updated_at: at };
  await db
    .insertInto("custom_domains")
    .values({ ...own, name, status: "ACTIVE" })
    .execute();
  return id;
}

async function addTemplate(options: object): Promise<string> {
  const { json } = await createDesign(options);
  const [id, at] = [randomUUID(), clock.now()];
  const { workspaceId: workspace_id } = workspace;
  const design = json.qrcodeDesign.id;
  await db
    .updateTable("qrcode_designs")
    .set({ workspace_id, template_id: id })
    .where("id", "=", design)
    .execute();
  await db
    .insertInto("qrcode_templates")
    .values({ workspace_id, id, name: "Ours", look_id: design, created_at: at, updated_at: at })
    .execute();
  return id;
}

describe("a design that belongs to nobody", () => {
  test("is read, changed and deleted by whoever has its id and a token", async () => {
    const { id } = (await createDesign({}, rest)).json.qrcodeDesign;
    const other = await api.newWorkspace();
    for (const call of [rest, other.rest])
      expect((await call("GET", `/v1/qrcode-designs/${id}`)).json.qrcodeDesign.id).toBe(id);
    expect((await other.rest("PATCH", `/v1/qrcode-designs/${id}`, { width: 300 })).status).toBe(200);
    expect((await anyone("GET", `/v1/qrcode-designs/${id}`)).status).toBe(401);
    expect((await rest("DELETE", `/v1/qrcode-designs/${id}`)).json).toEqual({});
    expect((await rest("DELETE", `/v1/qrcode-designs/${id}`)).status).toBe(404);
  });

  test("belongs to the link that takes it, and to its workspace alone from then on", async () => {
    const { qrcodeDesign } = (await createDesign({ centralImageData, width: 700 })).json;
    const link = await createLink({ qrcodeDesignId: qrcodeDesign.id });
    expect(link.qrcodeDesignId).toBe(qrcodeDesign.id);
    const { qrcodeDesign: taken } = await readLink(link.id);
    expect({ ...taken, updatedAt: "" }).toEqual({
      ...qrcodeDesign,
      updatedAt: "",
      centralImageSignedUrl: taken.centralImageSignedUrl,
    });
    await bytesAt(taken.centralImageSignedUrl);
    const path = `/v1/qrcode-designs/${qrcodeDesign.id}`;
    expect((await rest("GET", path)).status).toBe(200);
    const other = await api.newWorkspace();
    for (const method of ["GET", "PATCH", "DELETE"])
      expect((await other.rest(method, path, method === "PATCH" ? {} : undefined)).status).toBe(404);
    const again = await rest("POST", "/v1/links", {
      destination: "https://example.com",
      qrcodeDesignId: qrcodeDesign.id,
    });
    expect([again.status, again.json.error.codeType]).toEqual([412, "DESIGN_IN_USE"]);
    const deleted = await rest("DELETE", path);
    expect([deleted.status, deleted.json.error.codeType]).toEqual([412, "DESIGN_IN_USE"]);
  });

  test("is taken once, however many links want it at the same time", async () => {
    const { id } = (await createDesign()).json.qrcodeDesign;
    const body = { destination: "https://example.com", qrcodeDesignId: id };
    const replies = await Promise.all(Array.from({ length: 5 }, () => rest("POST", "/v1/links", body)));
    // A call that comes too late finds the design in use, or moved to a workspace that its snapshot does not see.
    expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)[0]).toBe(200);
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(replies.every(({ status }) => [200, 404, 412].includes(status))).toBe(true);
  });

  test("goes after a day, with its picture, unless something has taken it", async () => {
    const color = `#${randomUUID().slice(0, 6)}`;
    const own = await sharp({ create: { width: 9, height: 9, channels: 3, background: color } })
      .png()
      .toBuffer();
    const fields = { centralImageData: own.toString("base64") };
    const left = (await createDesign(fields)).json.qrcodeDesign;
    const { id: taken } = (await createDesign(fields)).json.qrcodeDesign;
    const link = await createLink({ qrcodeDesignId: taken });
    clock.advance(23 * 60 * 60 * 1000);
    await deleteUnclaimedDesigns(db, clock.now());
    expect((await rest("GET", `/v1/qrcode-designs/${left.id}`)).status).toBe(200);
    clock.advance(61 * 60 * 1000);
    await deleteUnclaimedDesigns(db, clock.now());
    expect((await rest("GET", `/v1/qrcode-designs/${left.id}`)).status).toBe(404);

    // The two share a picture, which stays as long as one of them exists.
    const sweep = async () => {
      clock.advance(3 * 60 * 60 * 1000);
      while ((await sweepFiles(db, { storage, now: clock.now })) > 0);
    };
    await sweep();
    const { centralImageSignedUrl: url } = (await readLink(link.id)).qrcodeDesign;
    await bytesAt(url);
    await rest("DELETE", `/v1/links/${link.id}`);
    await sweep();
    const key = /\/(centers\/[^?]+)/.exec(url)?.[1] ?? "";
    expect(await storage.get(key)).toBeUndefined();
  });
});

test("the picture of a design that was refused goes, with an idempotency key too", async () => {
  const stored: string[] = [];
  const watched: typeof storage = {
    ...storage,
    put(key, ...file) {
      stored.push(key);
      return storage.put(key, ...file);
    },
  };
  const second = await startApi({ database: api.database, clock, deps: { storage: watched } });
  for (const headers of [{}, { "idempotency-key": randomUUID() }]) {
    const background = `#${randomUUID().slice(0, 6)}`;
    const picture = await sharp({ create: { width: 9, height: 9, channels: 3, background } })
      .png()
      .toBuffer();
    const body = { ...unreadable, centralImageData: picture.toString("base64"), requireScannable: true };
    const { status } = await second.rest()("POST", "/v1/public/qrcode-designs", body, headers);
    expect(status).toBe(412);
  }
  const left = async () => (await Promise.all(stored.map((key) => storage.get(key)))).filter(Boolean).length;
  expect(await left()).toBe(2);
  clock.advance(3 * 60 * 60 * 1000);
  while ((await sweepFiles(db, { storage, now: clock.now })) > 0);
  expect(await left()).toBe(0);
});

describe("update", () => {
  test("changes the fields that are present and no other; nothing present changes nothing", async () => {
    const link = await createLink({ shortlink: "idle" });
    const path = `/v1/qrcode-designs/${link.qrcodeDesignId}`;
    const before = (await rest("GET", path)).json.qrcodeDesign;
    const { json } = await rest("PATCH", path, { dotsOptions: { type: "DOTS_TYPE_DOTS" }, height: 0 });
    expect(json.qrcodeDesign).toEqual({
      ...before,
      dotsOptions: { type: "DOTS_TYPE_DOTS" },
      updatedAt: json.qrcodeDesign.updatedAt,
    });
    expect(Date.parse(json.qrcodeDesign.updatedAt)).toBeGreaterThan(Date.parse(before.updatedAt));
    const idle = await rest("PATCH", path, {});
    expect(idle.json.qrcodeDesign).toEqual(json.qrcodeDesign);
    expect(idle.json.scannability.readable).toBe(true);
  });

  test("obeys the mask over gRPC", async () => {
    const link = await createLink();
    const client = workspace.client(QrcodeDesignService);
    const { qrcodeDesign } = await client.update({
      id: link.qrcodeDesignId,
      width: 900,
      height: 900,
      hideBackgroundDots: false,
      updateMask: { paths: ["width", "hide_background_dots"] },
    });
    expect(qrcodeDesign).toMatchObject({ width: 900, height: 512, hideBackgroundDots: false });
    const wrong = client.update({ id: link.qrcodeDesignId, updateMask: { paths: ["created_at"] } });
    await expect(wrong).rejects.toThrow("updateMask: names created_at, which no update changes");
  });

  test("has the link's image drawn again, and the one before deleted when its address has ended", async () => {
    const link = await createLink();
    await draw(link.id);
    const first = await readLink(link.id);
    const { json } = await rest("PATCH", `/v1/qrcode-designs/${link.qrcodeDesignId}`, {
      dotsOptions: solid("#0000ff"),
      outputFileFormat: "OUTPUT_FILE_FORMAT_WEBP",
    });
    expect((await readLink(link.id)).qrcodePendingUpdateSince).toBe(json.qrcodeDesign.updatedAt);
    await draw(link.id);
    const second = await readLink(link.id);
    expect(second).not.toHaveProperty("qrcodePendingUpdateSince");
    const image = await bytesAt(second.qrcodeSignedUrl);
    expect((await sharp(image).metadata()).format).toBe("webp");
    expect(await readWithZxing(await sharp(image).png().toBuffer())).toEqual([`${link.entrypoint}?qr`]);

    const keyOf = (url: string) => /\/(qr\/[^?]+)/.exec(url)?.[1] ?? "";
    await sweepFiles(db, { storage, now: clock.now });
    expect(await storage.get(keyOf(first.qrcodeSignedUrl))).toBeDefined();
    clock.advance(3 * 60 * 60 * 1000);
    while ((await sweepFiles(db, { storage, now: clock.now })) > 0);
    expect(await storage.get(keyOf(first.qrcodeSignedUrl))).toBeUndefined();
    expect(await storage.get(keyOf(second.qrcodeSignedUrl))).toBeDefined();
  });

  test("puts a picture in and takes it out, and draws it", async () => {
    const link = await createLink();
    const path = `/v1/qrcode-designs/${link.qrcodeDesignId}`;
    const { json } = await rest("PATCH", path, { centralImageData, centralImageSize: 0.25 });
    expect(json.qrcodeDesign.centralImageSignedUrl).toMatch(/\/centers\//);
    await draw(link.id);
    const image = await bytesAt((await readLink(link.id)).qrcodeSignedUrl);
    const { data, info } = await sharp(image).raw().toBuffer({ resolveWithObject: true });
    const middle = (info.height / 2) * info.width * info.channels + (info.width / 2) * info.channels;
    expect([...data.subarray(middle, middle + 3)]).toEqual([0xd6, 0x28, 0x28]);
    expect(await readWithZxing(image)).toEqual([`${link.entrypoint}?qr`]);

    const both = await rest("PATCH", path, { centralImageData, centralImageDelete: true });
    expect([both.status, both.json.error.codeType]).toEqual([400, "MUTUALLY_EXCLUSIVE_FIELDS"]);
    const nowhere = await rest("PATCH", `/v1/qrcode-designs/${randomUUID()}`, {
      centralImageData,
      centralImageDelete: true,
    });
    expect(nowhere.status).toBe(400);
    const kept = await rest("PATCH", path, { centralImageData: "", centralImageDelete: false });
    expect(kept.json.qrcodeDesign.centralImageSignedUrl).toMatch(/\/centers\//);
    const gone = await rest("PATCH", path, { centralImageDelete: true });
    expect(gone.json.qrcodeDesign.centralImageSignedUrl).toBe("");
  });

  test("loses no change when several come at once", async () => {
    const link = await createLink();
    const path = `/v1/qrcode-designs/${link.qrcodeDesignId}`;
    const changes = [{ width: 700 }, { height: 800 }, { shape: "SHAPE_CIRCLE" }];
    const replies = await Promise.all(changes.map((change) => rest("PATCH", path, change)));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect((await rest("GET", path)).json.qrcodeDesign).toMatchObject({
      width: 700,
      height: 800,
      shape: "SHAPE_CIRCLE",
    });
  });
});

describe("apply-template", () => {
  function apply(body: object) {
    return rest("POST", "/v1/qrcode-designs/apply-template", body);
  }

  test("gives the link's design the template's look, keeps its id, and has it drawn", async () => {
    const link = await createLink({ shortlink: "restyled" });
    await draw(link.id);
    const templateId = await addTemplate({
      shape: "SHAPE_CIRCLE",
      centralImageData,
      centralImageSize: 0.25,
      width: 640,
    });
    const { status, json } = await apply({ linkId: link.id, qrcodeTemplateId: templateId });
    expect(status).toBe(200);
    expect(json.qrcodeDesign).toMatchObject({ id: link.qrcodeDesignId, shape: "SHAPE_CIRCLE", width: 640 });
    expect(json.scannability.readable).toBe(true);
    const after = await readLink(link.id);
    expect(after).toMatchObject({
      qrcodeTemplateId: templateId,
      qrcodePendingUpdateSince: json.qrcodeDesign.updatedAt,
    });
    await bytesAt(after.qrcodeDesign.centralImageSignedUrl);
    const again = await apply({ linkId: link.id, qrcodeTemplateId: templateId });
    expect(again.json.qrcodeDesign.updatedAt).toBe(json.qrcodeDesign.updatedAt);
  });

  test("wants exactly one of id and slug", async () => {
    const { id: linkId } = await createLink();
    for (const fields of [{}, { qrcodeTemplateId: randomUUID(), templateSlug: "ours" }]) {
      const { status, json } = await apply({ linkId, ...fields });
      expect([status, json.error.codeType]).toEqual([400, "ONE_OF_REQUIRED"]);
    }
  });

  test("answers 404 for a link or template that is not there", async () => {
    const { id: linkId } = await createLink();
    const templateId = await addTemplate({});
    const other = await api.newWorkspace();
    const bodies = [
      { linkId, qrcodeTemplateId: randomUUID() },
      { linkId, templateSlug: "nobodys" },
      { linkId: randomUUID(), qrcodeTemplateId: templateId },
    ];
    for (const body of bodies) expect((await apply(body)).status).toBe(404);
    const foreign = await other.rest("POST", "/v1/qrcode-designs/apply-template", {
      linkId,
      qrcodeTemplateId: templateId,
    });
    expect(foreign.status).toBe(404);
  });
});

test("anonymous creation is limited to ten a minute from one address", async () => {
  const limited = await startApi({ rateLimits: { anonymous: 1_000, token: 1_000 } });
  const statuses: number[] = [];
  for (let made = 0; made < 11; made++)
    statuses.push((await limited.rest()("POST", "/v1/public/qrcode-designs", {})).status);
  expect(statuses).toEqual([...Array(10).fill(200), 429]);
  const { token } = await limited.newWorkspace();
  const { status, headers, json } = await limited.rest(token)("POST", "/v1/public/qrcode-designs", {});
  expect([status, json.error.codeType]).toEqual([429, "RATE_LIMITED"]);
  expect(Number(headers["retry-after"])).toBeGreaterThan(0);
  expect((await limited.rest()("GET", "/v1/api-scopes")).status).toBe(200);
});
