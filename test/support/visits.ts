import { eventOfLbid } from "../../src/model/visitors/lbid.ts";
import type { Api, TestWorkspace } from "./start-api.ts";
import { startTestScan, type TestScan } from "./start-scan.ts";

/** A visit as it is stored. */
export interface StoredVisit {
  readonly eventId: string;
  readonly lbid: string;
  readonly deviceId: string;
  readonly visitorId: string | null;
}

export interface Visits {
  /** Makes a link of the workspace whose redirect carries `lbid`, and returns its short link. */
  newLink(): Promise<{ readonly id: string; readonly shortlink: string }>;
  /** Visits a link with a browser that keeps its cookie, and waits until the visit is in the database. */
  visit(shortlink: string, browser?: string): Promise<StoredVisit>;
}

/** Visits links of a workspace through the real scan runtime, which is stopped after the test. */
export async function startVisits(api: Api, workspace: TestWorkspace): Promise<Visits> {
  return visitsThrough(await startTestScan(api.database), api, workspace);
}

/** Visits links of a workspace through a running scan runtime, with browsers of their own. */
export function visitsThrough(scan: TestScan, api: Api, workspace: TestWorkspace): Visits {
  const cookies = new Map<string, string>();
  return {
    async newLink() {
      const { json } = await workspace.rest("POST", "/v1/links", {
        destination: "https://example.com",
        conversionTracking: true,
      });
      return json.link;
    },
    async visit(shortlink, browser = "Firefox/140.0") {
      const cookie = cookies.get(browser);
      const { headers } = await scan.ask(`/${shortlink}`, {
        headers: {
          "user-agent": `Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 ${browser}`,
          ...(cookie === undefined ? {} : { cookie }),
        },
      });
      const [given] = headers["set-cookie"]?.split(";") ?? [];
      if (given !== undefined) cookies.set(browser, given);
      const lbid = new URL(headers.location ?? "").searchParams.get("lbid") ?? "";
      await scan.drained();
      const event = await api.db
        .selectFrom("events")
        .select(["id", "device_id", "visitor_id"])
        .where("workspace_id", "=", workspace.workspaceId)
        .where("id", "=", eventOfLbid(lbid) ?? "")
        .executeTakeFirstOrThrow();
      return { eventId: event.id, lbid, deviceId: event.device_id, visitorId: event.visitor_id };
    },
  };
}
