import { Agent, request } from "node:http";
import { afterAll, expect, test } from "vitest";
import { type RestApi, restApi } from "../support/rest-api.ts";
import { eventually, startService } from "../support/start-service.ts";
import { confusionOf, isCountedHere } from "./confusion.ts";
import { readPublicLists } from "./public-lists.ts";

const service = await startService();
afterAll(() => service.stop());
const api: RestApi = restApi(service.baseUrl, service.credentials.accessToken);
const agent = new Agent({ keepAlive: true, maxSockets: 16 });

function visit(shortlink: string, userAgent: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const url = `${service.baseUrl}/${shortlink}`;
    request(url, { agent, headers: { "user-agent": userAgent } }, (res) => {
      res.resume().on("end", () => resolve(res.statusCode ?? 0));
    })
      .on("error", reject)
      .end();
  });
}

test.each([true, false])(
  "every visit of the public lists is answered, recorded and counted as the rules say: programs %s",
  async (isProgram) => {
    const agents = readPublicLists().filter((listed) => listed.isProgram === isProgram);
    const link = await api.createLink({});
    const statuses = await Promise.all(agents.map(({ userAgent }) => visit(link.shortlink, userAgent)));
    expect(new Set(statuses)).toEqual(new Set([302]));
    const totalOf = async (query: string) => {
      const path = `/v1/events?linkId=${link.id}&pageSize=1${query}`;
      const { json } = await api.call<{ json: { totalCount: string } }>("GET", path);
      return Number(json.totalCount);
    };
    await eventually(
      () => totalOf(""),
      (total) => total === agents.length,
    );
    const { programsCounted, browsers, browsersRefused } = confusionOf(agents, isCountedHere);
    const counted = programsCounted + browsers - browsersRefused;
    expect(await totalOf("&counted=true")).toBe(counted);
    expect(await totalOf("&counted=false")).toBe(agents.length - counted);
    const { link: read } = await api.call("GET", `/v1/links/${link.id}`);
    expect(read.eventCount).toBe(String(counted));
  },
);
