import { fromJson, type JsonObject } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { MediaService } from "../../gen/signpost/v1/media_service_pb.js";
import {
  PageThemesService,
  UpdatePageThemeRequestSchema,
} from "../../gen/signpost/v1/page_themes_service_pb.js";
import { hasBrowser, launchBrowser } from "../support/browser.ts";
import { type RestApi, restApi } from "../support/rest-api.ts";
import { type Service, startService } from "../support/start-service.ts";
import { newVisitor } from "../support/visitor.ts";
import { makeWorkflow } from "../support/workflows.ts";

let service: Service;
let api: RestApi;
beforeAll(async () => {
  service = await startService();
  api = restApi(service.baseUrl, service.credentials.accessToken);
});
afterAll(() => service?.stop());

const solid = (...colors: string[]) => ({ type: "THEME_COLOR_TYPE_SOLID", colors });

function transport() {
  const { accessToken } = service.credentials;
  return createGrpcTransport({
    baseUrl: service.baseUrl,
    interceptors: [
      (next) => (request) => {
        request.header.set("authorization", `Bearer ${accessToken}`);
        return next(request);
      },
    ],
  });
}

/** A link with one page and a theme of its own. */
async function themedLink(): Promise<{ path: string; theme: string }> {
  const page = { action: "THANK_YOU_PAGE", payload: { thankYouPage: { title: "Thanks" } } };
  const { linkId, shortlink } = await makeWorkflow(api, "page", { page });
  const made = await api.call<{ pageThemeTemplate: { id: string } }>("POST", "/v1/page-theme-templates", {});
  const { pageTheme } = await api.call<{ pageTheme: { id: string } }>(
    "POST",
    "/v1/page-themes/apply-template",
    {
      linkId,
      pageThemeTemplateId: made.pageThemeTemplate.id,
    },
  );
  return { path: `/${shortlink}`, theme: pageTheme.id };
}

async function bodyOf(path: string): Promise<string> {
  const { status, body } = await newVisitor(service.port).open(path);
  expect(status).toBe(200);
  return body;
}

/** The page once it has this text: changes reach visitors by a notice. */
function pageWith(path: string, text: string): Promise<string> {
  return vi.waitFor(
    async () => {
      const body = await bodyOf(path);
      expect(body).toContain(text);
      return body;
    },
    { timeout: 60_000, interval: 50 },
  );
}

async function upload(mediaType: string, bytes: Buffer): Promise<string> {
  const body = { fileData: bytes.toString("base64"), mediaType: `TYPE_${mediaType}` };
  const { media } = await api.call<{ media: { id: string } }>("POST", "/v1/media", body);
  return media.id;
}

function photo(width: number, height: number): Promise<Buffer> {
  return sharp({ create: { width, height, channels: 3, background: "#336699" } })
    .jpeg()
    .toBuffer();
}

/** Everything that a theme can say as text, with one of its texts replaced. */
const places: Readonly<Record<string, (text: string) => JsonObject>> = {
  "canvasColor.colors": (text) => ({ canvasColor: solid(text) }),
  "canvasColor.stops": (text) => ({ canvasColor: { colors: ["#fff", "#000"], stops: [text, text] } }),
  "canvasColor.direction": (text) => ({ canvasColor: { colors: ["#fff"], direction: text } }),
  "elementColor.colors": (text) => ({ elementColor: solid("#000", text) }),
  "elementColor.direction": (text) => ({ elementColor: { colors: ["#fff"], direction: text } }),
  "badgeIconColor.colors": (text) => ({ badgeIconColor: solid(text) }),
  "titleFont.color": (text) => ({ titleFont: { color: solid(text) } }),
  "titleFont.familyStack": (text) => ({ titleFont: { familyStack: text } }),
  "elementFont.familyStack": (text) => ({ elementFont: { familyStack: text } }),
  "containerConfig.backgroundColor": (text) => ({
    containerConfig: { variant: "PAGE_THEME_CONTAINER_VARIANT_ROUNDED", backgroundColor: solid(text) },
  }),
  "containerConfig.borderColor": (text) => ({
    containerConfig: { variant: "PAGE_THEME_CONTAINER_VARIANT_ROUNDED", borderColor: solid(text) },
  }),
  "canvasCover.id": (text) => ({ canvasCover: { id: text } }),
  "badge.id": (text) => ({ badge: { id: text } }),
};

const hostile = [
  "url(//evil.example)",
  "#fff;}*{background:url(//evil.example)}",
  "#fff}</style><script>ran()</script>",
  "rgb(1,2,3);color:red",
  "var(--ink)",
  "expression(alert(1))",
  "linear-gradient(#fff,#000)",
  "@import url(//evil.example)",
  "\\75rl(//evil.example)",
  "#fff/*",
  "#fff\n}",
  "rgb(calc(1),2,3)",
  `rgb(${"1".repeat(70_000)},2,3)`,
  "\u202e#fff",
];

/** Texts that the form of a field allows, and that mean nothing there. */
const odd: readonly (readonly [string, string])[] = [
  ["canvasColor.stops", "evilword 1em"],
  ["canvasColor.direction", "to evilword"],
  ["elementColor.direction", "-moz-evilword 1 2 3"],
  ["titleFont.familyStack", "evilword', 'x"],
  ["elementFont.familyStack", `"evilword" "x`],
];

describe("hostile themes", () => {
  test("are refused by the name of their field over REST and gRPC alike, and change nothing", async () => {
    const { theme } = await themedLink();
    const client = createClient(PageThemesService, transport());
    const before = await api.call("GET", `/v1/page-themes/${theme}`);
    const many = { colors: Array(10_000).fill("#fff"), stops: Array(10_000).fill("1%") };
    const requests = [
      ...Object.entries(places).flatMap(([place, at]) => hostile.map((text) => [place, at(text)] as const)),
      ["canvasColor.colors", { canvasColor: { type: "THEME_COLOR_TYPE_LINEAR", ...many } }] as const,
      ["canvasCover.id", { canvasCover: { id: theme } }] as const,
    ];
    const refused = async (place: string, call: Promise<unknown>) => {
      const message = await call.then(
        () => "taken",
        (error: Error) => error.message,
      );
      // A field in a list is named with its place: `canvasColor.colors[0]`.
      return message.includes(place) ? [] : [`${place}: ${message.slice(0, 300)}`];
    };
    for (const [place, fields] of requests) {
      const json = { ...fields, id: theme };
      const [overRest, overGrpc] = await Promise.all([
        refused(place, api.call("PATCH", `/v1/page-themes/${theme}`, fields)),
        refused(place, client.updatePageTheme(fromJson(UpdatePageThemeRequestSchema, json))),
      ]);
      expect([overRest, overGrpc]).toEqual([[], []]);
    }
    expect(await api.call("GET", `/v1/page-themes/${theme}`)).toEqual(before);
  });

  test("are refused with drawings as images, and with images of a workspace that is not theirs", async () => {
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>ran()</script></svg>');
    const media = createClient(MediaService, transport());
    const words = "fileData: must be a PNG or JPEG image";
    await expect(upload("BACKGROUND_COVER", svg)).rejects.toThrow(words);
    await expect(media.create({ fileData: svg, mediaType: 3 })).rejects.toThrow(words);
    const { theme } = await themedLink();
    const sandbox = await api.call<{ accessToken: string }>("POST", "/v1/sandboxes", {});
    const inSandbox = restApi(service.baseUrl, sandbox.accessToken);
    const foreign = await inSandbox.call<{ media: { id: string } }>("POST", "/v1/media", {
      fileData: (await photo(9, 9)).toString("base64"),
      mediaType: "TYPE_BACKGROUND_COVER",
    });
    const choice = { canvasCover: { id: foreign.media.id } };
    await expect(api.call("PATCH", `/v1/page-themes/${theme}`, choice)).rejects.toThrow(
      `canvasCover.id: there is no media file ${foreign.media.id} in this workspace`,
    );
  });

  test("that say nothing a page understands leave no trace on it", async () => {
    const { path, theme } = await themedLink();
    for (const [place, text] of odd)
      await api.call("PATCH", `/v1/page-themes/${theme}`, places[place]?.(text));
    await api.call("PATCH", `/v1/page-themes/${theme}`, {
      badgeIconColor: solid("#123456"),
      badgeEnabled: true,
    });
    expect(await pageWith(path, 'class="badge"')).not.toMatch(/evilword/);
  });
});

test("50 visits while a theme is edited see the look of before or of after, and never a part of it", async () => {
  const { path, theme } = await themedLink();
  const looks = ["#0b7a4b", "#5b21b6"].map((color, index) => ({
    canvasColor: solid(color),
    titleFont: { color: solid(index === 0 ? "#ffffff" : "#fde68a"), fontSize: 30 + index },
    elementColor: solid(color),
    badgeEnabled: index === 0,
    containerEnabled: index === 1,
    ...(index === 1 && {
      containerConfig: { variant: "PAGE_THEME_CONTAINER_VARIANT_SQUARE", borderSize: 2 },
    }),
  }));
  const show = (index: number) => api.call("PATCH", `/v1/page-themes/${theme}`, looks[index] ?? {});
  const whole = new Set<string>();
  for (const [index, color] of ["#0b7a4b", "#5b21b6"].entries()) {
    await show(index);
    whole.add(await pageWith(path, `--canvas:${color}`));
  }
  const edits = (async () => {
    for (let edit = 0; edit < 20; edit++) await show(edit % 2);
  })();
  const seen = new Set<string>();
  for (let round = 0; round < 10; round++)
    for (const body of await Promise.all(Array.from({ length: 5 }, () => bodyOf(path)))) seen.add(body);
  await edits;
  expect([...seen].filter((body) => !whole.has(body))).toEqual([]);
  await pageWith(path, "--canvas:#5b21b6");
});

describe.skipIf(!hasBrowser)("in a browser", () => {
  const visit = launchBrowser();

  test("a badge and a cover come from the visitor's host in the sizes of a phone, and the page keeps to its policy", async () => {
    const { path, theme } = await themedLink();
    const [cover, badge] = await Promise.all([
      upload("BACKGROUND_COVER", await photo(2_400, 1_800)),
      upload("BADGE", await photo(400, 300)),
    ]);
    const many = Array.from({ length: 50 }, (_, index) => `hsla(${index}deg 40% 30% / 100%)`);
    const stops = many.map((_, index) => `${index * 2}%`);
    const gradient = { type: "THEME_COLOR_TYPE_LINEAR", colors: many, stops, direction: "37deg" };
    await api.call("PATCH", `/v1/page-themes/${theme}`, {
      canvasCover: { id: cover },
      badge: { id: badge },
      badgeEnabled: true,
      canvasColor: gradient,
      elementColor: gradient,
    });
    await pageWith(path, "tall-832x");
    await pageWith(path, "square-264x");
    const { files, troubles, sizes } = await visit({ deviceScaleFactor: 3 }, async (page) => {
      const files: string[] = [];
      const troubles: string[] = [];
      page.on("console", (line) => troubles.push(line.text()));
      page.on("requestfailed", (request) => troubles.push(request.url()));
      page.on("request", (request) => {
        if (request.url().includes("/_p/files/public/pages/")) files.push(request.url());
        else if (!request.url().startsWith(service.baseUrl) && !request.url().startsWith("data:"))
          troubles.push(request.url());
      });
      await page.goto(`${service.baseUrl}${path}`, { waitUntil: "networkidle" });
      const sizes = await page.evaluate<number[]>("[...document.images].map((image) => image.naturalWidth)");
      return { files, troubles, sizes };
    });
    expect(troubles).toEqual([]);
    expect(
      files.map((url) => url.slice(url.lastIndexOf("/") + 1)).toSorted((a, b) => a.localeCompare(b)),
    ).toEqual(["square-264x264.webp", "tall-832x1800.webp"]);
    expect(Math.min(...sizes)).toBeGreaterThan(0);
    for (const url of files) {
      const got = await fetch(url, { headers: { accept: "image/webp" } });
      expect([got.headers.get("content-type"), got.headers.get("cache-control")]).toEqual([
        "image/webp",
        "public, max-age=31536000, immutable",
      ]);
      expect((await got.arrayBuffer()).byteLength).toBeLessThanOrEqual(120_000);
      expect((await fetch(url)).headers.get("content-type")).toBe("image/jpeg");
    }
    // A deleted file is gone from its address, once no theme has it.
    await api.call("PATCH", `/v1/page-themes/${theme}`, { canvasCover: { delete: {} } });
    await api.call("DELETE", `/v1/media/${cover}`);
    const tall = files.find((url) => url.includes("tall")) ?? "";
    await vi.waitFor(async () => expect((await fetch(tall)).status).toBe(404), {
      timeout: 20_000,
      interval: 50,
    });
  }, 150_000);
});
