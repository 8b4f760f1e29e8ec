import { setTimeout as pause } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import sharp from "sharp";
import { type RestApi, restApi } from "../support/rest-api.ts";
import { makeWorkflow } from "../support/workflows.ts";
import { atMost, atMostTimes, type Finding, inTurn, medianOf, told } from "./report.ts";
import { processorMs, startServiceProcess } from "./service-process.ts";
import { visitRequests } from "./visits.ts";
import { type LoadReport, wrk } from "./wrk.ts";

const connections = 32;

/** The page of a link in a theme with every kind of value, compared with the same page in the built-in look. */
export async function pagesRow({ quick }: { readonly quick: boolean }): Promise<Finding[]> {
  const service = await startServiceProcess();
  try {
    const api = restApi(`http://127.0.0.1:${service.port}`, service.credentials.accessToken);
    const [plain, themed] = [await makePage(api), await makePage(api)];
    await dress(api, themed.linkId);
    const path = `/${themed.shortlink}`;
    let page = "";
    while (!page.includes("tall-")) {
      await pause(100);
      page = await (await fetch(`http://127.0.0.1:${service.port}${path}`)).text();
    }
    const load = async (shortlink: string) => {
      const requests = visitRequests(service.port, [`/${shortlink}`]);
      const before = await processorMs(service.pid);
      const report = await wrk({ port: service.port, requests, connections, seconds: quick ? 2 : 4 });
      const microseconds = ((await processorMs(service.pid)) - before) * 1000;
      await service.settle();
      return { ...report, microseconds: microseconds / report.requests };
    };
    const both = [() => load(plain.shortlink), () => load(themed.shortlink)] as const;
    await inTurn(1, ...both);
    const reports = await inTurn(quick ? 3 : 5, ...both);
    const cost = ({ microseconds }: { readonly microseconds: number }) => microseconds;
    const perSecond = ({ requests, seconds }: LoadReport) => requests / seconds;
    return [
      atMostTimes("themed page, processor time of the process", {
        ours: medianOf(reports.ours, cost),
        peer: medianOf(reports.peer, cost),
        unit: "µs",
        budget: 1.3,
      }),
      told("  pages at full load", {
        ours: medianOf(reports.ours, perSecond),
        peer: `${medianOf(reports.peer, perSecond).toFixed(0)} /s`,
        unit: "/s",
      }),
      atMost("  HTML and CSS, compressed", { ours: gzipSync(page).length / 1024, unit: "kB", budget: 16 }),
    ];
  } finally {
    await service.remove();
  }
}

function makePage(api: RestApi) {
  const messagePage = {
    title: "Welcome to the museum",
    description: "The guide has twelve stops and takes about an hour.",
    navigationType: "MESSAGE_PAGE_NAVIGATION_TYPE_BUTTON",
    buttonLabel: "Start the tour",
  };
  return makeWorkflow(api, "page", {
    page: { action: "MESSAGE_PAGE", payload: { messagePage }, next: "redirect" },
  });
}

/** Gives a link a theme with gradients, a box, fonts, a badge and a cover. */
async function dress(api: RestApi, linkId: string): Promise<void> {
  const upload = async (mediaType: string, width: number, height: number) => {
    const image = sharp({ create: { width, height, channels: 3, background: "#336699" } });
    const fileData = (await image.jpeg().toBuffer()).toString("base64");
    const body = { fileData, mediaType: `TYPE_${mediaType}` };
    return { id: (await api.call<{ media: { id: string } }>("POST", "/v1/media", body)).media.id };
  };
  const made = await api.call<{ pageThemeTemplate: { id: string } }>("POST", "/v1/page-theme-templates", {});
  const { pageTheme } = await api.call<{ pageTheme: { id: string } }>(
    "POST",
    "/v1/page-themes/apply-template",
    {
      linkId,
      pageThemeTemplateId: made.pageThemeTemplate.id,
    },
  );
  const gradient = (...colors: string[]) => ({ type: "THEME_COLOR_TYPE_LINEAR", colors, direction: "45deg" });
  const font = (fontSize: number) => ({
    family: "PAGE_THEME_FONT_FAMILY_GEORGIA",
    fontSize,
    color: { colors: ["#fafafa"] },
  });
  await api.call("PATCH", `/v1/page-themes/${pageTheme.id}`, {
    canvasColor: gradient("#1f2a44", "#05070d", "#3b0764"),
    canvasCover: await upload("BACKGROUND_COVER", 2_400, 1_800),
    badgeEnabled: true,
    badge: await upload("BADGE", 400, 400),
    titleFont: font(34),
    bodyFont: font(17),
    elementColor: gradient("#ffd166", "#ef476f"),
    elementFont: { family: "PAGE_THEME_FONT_FAMILY_VERDANA" },
    containerEnabled: true,
    containerConfig: { variant: "PAGE_THEME_CONTAINER_VARIANT_ROUNDED", borderSize: 2, opacity: 80 },
  });
}
