import { randomUUID } from "node:crypto";
import type { Insertable } from "kysely";
import type { Devices } from "../../gen/database.ts";
import { newId } from "../../src/lib/ids.ts";
import type { Api } from "./start-api.ts";

/** What may break a table, a line of JSON, or a spreadsheet. */
export const hostileTexts = [
  '=HYPERLINK("https://evil.example","x")',
  "+1 234",
  "@SUM(A1)",
  "＝1+1",
  'a "quoted", cell; with\r\nlines\tand \\ backslashes',
  "\u2028 \u{1f600} é",
  "-1",
  "",
];

export interface EventsSeed {
  readonly workspaceId: string;
  readonly count: number;
  readonly linkId?: string;
  readonly visitorId?: string;
  /** The time of the first event; each other one is a second later. */
  readonly from: Date;
}

/** Writes events with hostile texts in every cell that has a text. Some have a score, some have no device any more. */
export async function addEvents(
  { db }: Pick<Api, "db">,
  { workspaceId, count, linkId = randomUUID(), visitorId, from }: EventsSeed,
): Promise<void> {
  const text = (index: number) => hostileTexts[index % hostileTexts.length] ?? "";
  const deviceIds = Array.from({ length: Math.ceil(count / 2) }, () => newId(from));
  const devices = deviceIds.slice(1).map((id, index): Insertable<Devices> => {
    return {
      workspace_id: workspaceId,
      id,
      device_type: "MOBILE",
      device_actor: "HUMAN",
      device_actor_name: text(index),
      device_brand: text(index + 1),
      device_name: text(index + 2),
      browser_name: text(index + 3),
      user_agent: text(index + 4),
      city: text(index + 5),
      isp: text(index + 6),
      asn: 4_294_967_295n,
      ...(index % 2 === 0 && {
        screen_width: 412,
        screen_height: 915,
        screen_ratio: 2.625,
        touch_screen: true,
        gpu: text(index + 7),
        device_memory: 0.5,
        device_concurrency: 8,
        network_connection: "4g",
        network_bandwidth: 1.45,
        network_rtt: 1e-7,
      }),
      last_used_at: from,
      created_at: new Date(index),
      updated_at: from,
    };
  });
  if (devices.length > 0) await db.insertInto("devices").values(devices).execute();
  const events = Array.from({ length: count }, (_, index) => {
    const at = new Date(from.getTime() + 1_000 * index + (index % 3));
    return {
      workspace_id: workspaceId,
      id: newId(at),
      link_id: linkId,
      device_id: deviceIds[index % deviceIds.length] ?? "",
      visitor_id: visitorId ?? null,
      action: index % 2 === 0 ? "SCAN" : "CLICK",
      visit_type: "FIRST",
      counted: index % 5 !== 0,
      uncounted_reason: index % 5 === 0 ? "CRAWLER" : null,
      entrypoint: text(index),
      destination: text(index + 1),
      destination_action: index % 3 === 0 ? null : "CLIENT_REDIRECT",
      steps_total: 2,
      steps_reached: 1,
      outcome: index % 2 === 0 ? "COMPLETED" : "IN_PROGRESS",
      lead_score: index % 4 === 0 ? 50 : null,
      created_at: at,
      updated_at: at,
    } as const;
  });
  for (let start = 0; start < events.length; start += 500)
    await db
      .insertInto("events")
      .values(events.slice(start, start + 500))
      .execute();
}
