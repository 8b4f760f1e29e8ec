import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { type Browser, chromium } from "playwright-core";
import sharp from "sharp";
import { browserArguments, browserPath } from "../support/browser-program.ts";
import { type RestApi, restApi } from "../support/rest-api.ts";
import { makeWorkflow, type StepPlan } from "../support/workflows.ts";
import { atMost, type Finding, median } from "./report.ts";
import { type ServiceProcess, startServiceProcess } from "./service-process.ts";

/** "Fast 3G" as Chrome's developer tools imitate it: 1.6 Mbit/s and 150 ms, and the round trips that a new connection takes. */
const fast3g = {
  offline: false,
  latency: 150 * 3.75,
  downloadThroughput: ((1.6 * 1000 * 1000) / 8) * 0.9,
  uploadThroughput: ((750 * 1000) / 8) * 0.9,
};

const steps: Readonly<Record<string, StepPlan>> = {
  message: {
    action: "MESSAGE_PAGE",
    payload: {
      messagePage: {
        title: "Welcome to the museum",
        description: "The guide has twelve stops and takes about an hour.\nHeadphones are at the desk.",
        navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_BUTTON",
        buttonLabel: "Start the tour",
      },
    },
    next: "redirect",
  },
  form: {
    action: "FORM_SUBMIT",
    payload: {
      form: {
        formTitle: "Where may we write to?",
        formFields: ["$firstName", "$lastName", "$email", "$phone", "city"].map((key) => ({
          id: key.replace("$", ""),
          key,
          label: `Your ${key.replace("$", "")}`,
          helpText: "As it stands on your invitation.",
          type: "FORM_FIELD_TYPE_TEXT",
        })),
      },
    },
    next: "redirect",
  },
  "multi-link": {
    action: "MULTI_LINK",
    payload: {
      multiLink: {
        title: "Everything at a glance",
        description: "Pick what you came for.",
        buttons: Array.from({ length: 8 }, (_, index) => ({
          id: `b${index}`,
          label: `Offer number ${index}`,
        })),
      },
    },
  },
};

/**
 * What a phone waits for: the first paint and the layout shift of pages with fonts, cover and badge, and their size.
 * The fastest load counts, because whatever else runs on this machine counts four times here.
 */
export async function paintRow({ quick }: { readonly quick: boolean }): Promise<Finding[]> {
  const service = await startServiceProcess();
  const browser = await chromium.launch({ executablePath: browserPath(), args: browserArguments });
  try {
    const baseUrl = `http://localhost:${service.port}`;
    const api = restApi(baseUrl, service.credentials.accessToken);
    const pageThemeId = await makeTheme(service, api);
    const findings: Finding[] = [];
    for (const [name, step] of Object.entries(steps)) {
      const { linkId, shortlink } = await makeWorkflow(api, name, { [name]: step });
      await api.call("PATCH", `/v1/links/${linkId}`, { pageThemeId });
      const loads: PageLoad[] = [];
      for (let round = 0; round < (quick ? 3 : 7); round++)
        loads.push(await load(browser, `${baseUrl}/${shortlink}`));
      const page = await fetch(`${baseUrl}/${shortlink}`);
      const of = (read: (load: PageLoad) => number) => median(loads.map(read));
      const peer = `${of(({ fonts }) => fonts)} fonts`;
      findings.push(
        atMost(`first paint of a ${name}`, {
          ours: of((each) => each.paintMs),
          unit: "ms",
          budget: 900,
          peer,
        }),
        atMost("  layout shift, in thousandths", {
          ours: Math.max(...loads.map(({ shift }) => shift)) * 1_000,
          unit: "",
          budget: 20,
        }),
        atMost("  HTML and CSS, compressed", {
          ours: gzipSync(await page.text()).length / 1_000,
          unit: "kB",
          budget: 16,
        }),
        atMost("  fonts", { ours: of(({ fontBytes }) => fontBytes) / 1_000, unit: "kB", budget: 60 }),
      );
    }
    return findings;
  } finally {
    await browser.close();
    await service.remove();
  }
}

/** A theme with two fonts that devices other than those of Apple and Microsoft load, a cover, and a badge. */
async function makeTheme(service: ServiceProcess, api: RestApi): Promise<string> {
  const noise = { type: "gaussian", mean: 128, sigma: 40 } as const;
  const picture = async (mediaType: string, width: number, height: number) => {
    const plain = { width, height, channels: 3, noise } as const;
    const fileData = (
      await sharp({ create: { ...plain, background: "#888" } })
        .blur(4)
        .jpeg()
        .toBuffer()
    ).toString("base64");
    const { media } = await api.call<{ media: { id: string } }>("POST", "/v1/media", { mediaType, fileData });
    return { id: media.id };
  };
  const id = randomUUID();
  const database = await service.database();
  await database.query(
    "insert into page_themes (workspace_id, id, styling, created_at, updated_at) select id, $1, '{}', now(), now() from workspaces",
    [id],
  );
  await database.end();
  const font = (fontSize: number, bold: boolean) => ({
    family: "PAGE_THEME_FONT_FAMILY_GEORGIA",
    fontSize,
    bold,
  });
  await api.call("PATCH", `/v1/page-themes/${id}`, {
    titleFont: font(34, true),
    bodyFont: font(17, false),
    elementFont: font(16, true),
    badgeEnabled: true,
    badge: await picture("TYPE_BADGE", 600, 600),
    canvasCover: await picture("TYPE_BACKGROUND_COVER", 1_600, 2_400),
    canvasCoverMode: "PAGE_THEME_BACKGROUND_COVER_MODE_PROGRESSIVE_TOP",
  });
  return id;
}

interface PageLoad {
  readonly paintMs: number;
  readonly shift: number;
  readonly fonts: number;
  readonly fontBytes: number;
}

/** Opens a page as a phone that was never here, on a slow network and with a quarter of this machine's speed. */
async function load(browser: Browser, url: string): Promise<PageLoad> {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, deviceScaleFactor: 3 });
  try {
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send("Network.enable");
    await session.send("Network.emulateNetworkConditions", fast3g);
    await session.send("Emulation.setCPUThrottlingRate", { rate: 4 });
    await page.goto(url, { waitUntil: "load" });
    await page.evaluate("document.fonts.ready");
    return await page.evaluate<PageLoad>(measured);
  } finally {
    await context.close();
  }
}

const measured = `new Promise((resolve) => {
  let shift = 0;
  new PerformanceObserver((list) => {
    for (const { value } of list.getEntries()) shift += value;
  }).observe({ type: "layout-shift", buffered: true });
  const fonts = performance.getEntriesByType("resource").filter(({ name }) => name.endsWith(".woff2"));
  // Long enough for the page's own animation.
  setTimeout(() => resolve({
    paintMs: performance.getEntriesByName("first-contentful-paint")[0].startTime,
    shift,
    fonts: fonts.length,
    fontBytes: fonts.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0),
  }), 1_000);
})`;
