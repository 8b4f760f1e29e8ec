import type pg from "pg";
import { uuidFromTime } from "../lib/ids.ts";
import { exportColumns } from "./columns.ts";
import { copyRows } from "./copy-rows.ts";
import { joinRows } from "./join-devices.ts";
import { idAt, type RawRows } from "./raw-rows.ts";

/** Which events an export has: those that the list of events shows, from `from` to `to`, both inclusive. */
export interface ExportScope {
  readonly workspaceId: string;
  readonly linkId: string | undefined;
  readonly from: Date;
  readonly to: Date;
  /** How many events a portion has at most; 32,768 when absent. */
  readonly portionRows?: number;
}

/** Some events in the order of their ids, and the devices of these events. */
export interface Portion {
  readonly events: RawRows;
  readonly devices: RawRows;
  /** The row of each event's device; -1 for a device that is gone. */
  readonly deviceOf: Int32Array;
}

const eventColumns = exportColumns.filter((column) => column.of === "event");
const deviceColumns = exportColumns.filter((column) => column.of === "device");
const idPlace = eventColumns.findIndex(({ path }) => path.join() === "id");
const devicePlace = eventColumns.findIndex(({ path }) => path.join() === "deviceId");
const deviceIdPlace = deviceColumns.findIndex(({ path }) => path.join(".") === "device.id");

const eventList = eventColumns.map(({ expression }) => expression).join();
const deviceList = deviceColumns.map(({ expression }) => expression).join();

/** The most bytes of a portion's events. */
const bytesMax = 24 * 1024 * 1024;
/** Devices have short texts, which were cut when they were stored. */
const deviceBytesMax = 1024 * 1024 * 1024;

/**
 * Reads events in portions, each by statements of its own, so that no transaction lasts as long as an export. An event
 * is read once: portions follow each other in the order of ids, which never change. The next portion is on its way
 * while the caller works on one.
 */
export async function* readPortions(
  client: pg.Client,
  scope: ExportScope,
): AsyncGenerator<Portion, void, undefined> {
  let next = readPortion(client, scope, undefined);
  for (;;) {
    const portion = await next;
    const { events } = portion;
    if (events.count === 0) return;
    next = readPortion(client, scope, idAt(events, (events.count - 1) * events.width + idPlace));
    // Whoever takes no further portion hears of no fault.
    next.catch(() => {});
    yield portion;
  }
}

async function readPortion(
  client: pg.Client,
  scope: ExportScope,
  after: string | undefined,
): Promise<Portion> {
  const beyond = after === undefined ? "" : ` and id > ${client.escapeLiteral(after)}`;
  const { portionRows: rowsMax = 32_768 } = scope;
  const chosen = `workspace_id = ${client.escapeLiteral(scope.workspaceId)} and locked_number is null
    and ${conditions(client, scope)}${beyond}`;
  const events = await copyRows(
    client,
    `select ${eventList} from events where ${chosen} order by id limit ${rowsMax}`,
    { width: eventColumns.length, rowsMax, bytesMax },
  );
  if (events.count === 0) return { events, devices: events, deviceOf: new Int32Array(0) };
  const last = idAt(events, (events.count - 1) * events.width + idPlace);
  const devices = await copyRows(
    client,
    `select ${deviceList} from devices where workspace_id = ${client.escapeLiteral(scope.workspaceId)}
      and id in (select device_id from events where ${chosen} and id <= ${client.escapeLiteral(last)})`,
    { width: deviceColumns.length, rowsMax: events.count, bytesMax: deviceBytesMax },
  );
  return { events, devices, deviceOf: joinRows(events, devicePlace, devices, deviceIdPlace) };
}

/** Ids begin with the millisecond of their event, so their bounds leave out the partitions of other months. */
function conditions(client: pg.Client, { linkId, from, to }: ExportScope): string {
  const given = (text: string) => client.escapeLiteral(text);
  const link = linkId === undefined ? "" : `link_id = ${given(linkId)} and `;
  return `${link}created_at >= ${given(from.toISOString())} and created_at <= ${given(to.toISOString())}
    and id >= ${given(idBound(from.getTime()))} and id < ${given(idBound(to.getTime() + 1))}`;
}

/** Ids hold no time before 1970. */
function idBound(ms: number): string {
  return uuidFromTime(new Date(Math.max(0, ms)));
}
