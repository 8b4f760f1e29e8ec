import { createHash } from "node:crypto";

/*
 * The script with which a page tells what only its browser knows: screen, graphics unit, memory, processors, network. It
 * is the only script of hosted pages, stands only on those of visits that may be told so much about, and pages work
 * without it. It runs when the page is loaded and the browser has nothing else to do.
 */
const source = `(() => {
const { to } = document.currentScript.dataset;
const gpu = () => {
  try {
    const gl = document.createElement("canvas").getContext("webgl");
    const info = gl.getExtension("WEBGL_debug_renderer_info");
    return gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER);
  } catch {}
};
const report = () => {
  const { deviceMemory, hardwareConcurrency, maxTouchPoints, connection = {} } = navigator;
  const body = JSON.stringify({
    screenWidth: screen.width,
    screenHeight: screen.height,
    screenRatio: devicePixelRatio,
    touchScreen: maxTouchPoints > 0,
    gpu: gpu(),
    deviceMemory,
    deviceConcurrency: hardwareConcurrency,
    networkConnection: connection.effectiveType,
    networkBandwidth: connection.downlink,
    networkRtt: connection.rtt,
  });
  fetch(to, { method: "POST", keepalive: true, headers: { "Content-Type": "application/json" }, body }).catch(() => {});
};
const whenIdle = () => (window.requestIdleCallback || setTimeout)(report);
if (document.readyState === "complete") whenIdle();
else addEventListener("load", whenIdle);
})();
`;

/** Where reports are posted, on every short host. */
export const reportPath = "/_p/device";

/** The parameter that names the link of the visit. */
export const reportedLinkParameter = "link";

/** The script, at an address that changes with it. */
export const reportScript = {
  path: `/_p/report-${createHash("sha256").update(source).digest("hex").slice(0, 12)}.js`,
  bytes: Buffer.from(source),
} as const;
