import { expect, onTestFinished, test, vi } from "vitest";
import { onePixel } from "../support/one-pixel.ts";
import { startService } from "../support/start-service.ts";

test("the bundle serves, records and stores a visit like the sources", async () => {
  const service = await startService({
    env: { GOOGLE_CLIENT_ID: "client", GOOGLE_CLIENT_SECRET: "secret" },
  });
  onTestFinished(() => service.stop());
  const { accessToken } = service.credentials;
  const call = async (path: string, init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${accessToken}`, "content-type": "application/json" };
    const answer = await fetch(`${service.baseUrl}/v1${path}`, { ...init, headers });
    expect(answer.status).toBe(200);
    // The fields are checked below; any other shape fails the test.
    // biome-ignore lint/suspicious/noExplicitAny: the answer of whichever call
    return (await answer.json()) as any;
  };
  const body = JSON.stringify({ destination: "https://example.com/menu" });
  const { link } = await call("/links", { method: "POST", body });
  const visit = await fetch(`${service.baseUrl}/${link.shortlink}?qr`, { redirect: "manual" });
  expect([visit.status, visit.headers.get("location")]).toEqual([302, "https://example.com/menu"]);
  const events = await vi.waitFor(
    async () => {
      const { json } = await call("/events");
      expect(json.events).toHaveLength(1);
      return json.events;
    },
    { timeout: 20_000, interval: 50 },
  );
  expect(events).toMatchObject([{ linkId: link.id, action: "ACTION_SCAN" }]);
  // Analytics are read in a thread, whose program is a separate file of the bundle, too.
  expect((await call("/metrics/events")).dataThrough).toMatch(/^2/);
  // The picture is read in a child process, whose program is a separate file of the bundle.
  const media = JSON.stringify({ mediaType: "TYPE_BADGE", fileData: onePixel });
  expect((await call("/media", { method: "POST", body: media })).media.mimeType).toBe("image/png");
  // Google's libraries are loaded with their first use.
  expect((await call("/google-forms-integrations/oauth-url")).oauthUrl).toMatch(
    /^https:\/\/accounts\.google\.com\//,
  );
  for (const path of ["/openapi.json", "/docs"])
    expect((await fetch(`${service.baseUrl}${path}`)).status).toBe(200);
});
