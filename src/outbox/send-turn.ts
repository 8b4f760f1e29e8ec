import type { Db } from "../db/open.ts";
import { expandIntake } from "./expand-intake.ts";
import { endTurns, roomFor } from "./line-turns.ts";
import { extendEveryMs, extendLines, giveBackLines, lookAtLines, type Owner, takeLines } from "./lines.ts";
import type { Deliver, Sender } from "./sender.ts";
import { dropReady, dropSurplus, newLine, type SendingLine, updateLine, wantedBy } from "./sending-line.ts";
import {
  type DueMessage,
  missMessages,
  missOldest,
  missWaiting,
  readContents,
  readDue,
} from "./waiting-messages.ts";

/** The senders of all kinds. */
export type Senders = Readonly<Record<"WEBHOOK" | "SLACK", Sender>>;

export interface TurnDeps {
  readonly db: Db;
  readonly senders: Senders;
  readonly shortUrl: string;
  readonly owner: string;
  readonly now: () => Date;
}

/** How many messages a process holds at most, and how many a turn reads. */
const heldMax = 2_048;
const readMax = 512;
/** With how many characters of texts held it reads no more: one text may have nearly a million. */
const heldTextMax = 128 * 1024 * 1024;

/**
 * One turn of the database work of sending: makes messages of queued steps, takes lines that are due, reads messages for
 * those that can take more, and gives back lines that are done. Returns whether it should go on at once.
 */
export function createTurn(deps: TurnDeps, lines: Map<string, SendingLine>): () => Promise<boolean> {
  const { db, now, owner } = deps;
  let extendedMs = 0;
  return async () => {
    const me: Owner = { owner, now: now() };
    const expanded = await expandIntake(db, me.now);
    const all = [...lines.values()];
    if (all.length === 0) extendedMs = me.now.getTime();
    else if (me.now.getTime() - extendedMs >= extendEveryMs) {
      await extendLines(db, me, all);
      extendedMs = me.now.getTime();
    }
    await takeMore(db, me, lines);
    if (lines.size === 0) return expanded > 0;
    await lookAtAll(deps, me, lines);
    endTurns(lines.values(), me.now.getTime());
    for (const line of lines.values()) dropSurplus(line, me.now.getTime());
    const isMissing = await missGivenUp(deps, lines);
    const { read, drained } = await readMore(deps, me, lines);
    const hasRoom = await giveBack(db, me, lines, drained);
    return expanded > 0 || read > 0 || isMissing || hasRoom;
  };
}

export function lineKey({
  workspaceId,
  subscriberId,
}: {
  workspaceId: string;
  subscriberId: string;
}): string {
  return `${workspaceId}/${subscriberId}`;
}

async function takeMore(db: Db, me: Owner, lines: Map<string, SendingLine>): Promise<void> {
  const room = roomFor(lines.values());
  if (room.most <= 0) return;
  for (const key of await takeLines(db, me, room)) {
    const place = lineKey(key);
    lines.set(place, lines.get(place) ?? newLine(key, me.now.getTime()));
  }
}

/** Learns which lines are still this process's, and what is to be done with them. */
async function lookAtAll(
  { db, senders }: TurnDeps,
  me: Owner,
  lines: Map<string, SendingLine>,
): Promise<void> {
  const looks = new Map(
    (await lookAtLines(db, me, [...lines.values()])).map((look) => [lineKey(look), look]),
  );
  for (const [place, line] of lines) {
    const look = looks.get(place);
    if (look === undefined) line.look = undefined;
    else updateLine(line, look, senders[look.kind].pace);
    if (look?.status !== "ACTIVE") dropReady(line);
    if (look === undefined && line.held.size === 0) lines.delete(place);
  }
}

/** Gives up what disabled subscribers have waiting, and what is too much. Returns whether there is more of it. */
async function missGivenUp({ db }: TurnDeps, lines: ReadonlyMap<string, SendingLine>): Promise<boolean> {
  let hasMore = false;
  for (const line of lines.values()) {
    const { waitingMax } = line.pace;
    if (line.look?.status === "DISABLED" && line.held.size === 0)
      hasMore = (await missWaiting(db, line)) || hasMore;
    else if (line.look?.status === "ACTIVE" && waitingMax !== undefined && line.ready.length === 0)
      await missOldest(db, { ...line, most: waitingMax });
  }
  return hasMore;
}

interface ReadMore {
  readonly read: number;
  /** Lines without further messages that are due. */
  readonly drained: ReadonlySet<SendingLine>;
}

async function readMore(
  deps: TurnDeps,
  me: Owner,
  lines: ReadonlyMap<string, SendingLine>,
): Promise<ReadMore> {
  const held = [...lines.values()].reduce((sum, line) => sum + line.held.size, 0);
  const room = heldText(lines.values()) < heldTextMax ? Math.min(readMax, heldMax - held) : 0;
  const wanting = shares([...lines.values()], { room, nowMs: me.now.getTime() });
  const delivers = await openAll(
    deps,
    wanting.map(({ line }) => line),
  );
  const wanted = wanting.map(({ line, most }) => ({ ...keyOf(line), most: most + line.held.size }));
  // What is written while they are read is no longer held, but is read as it was before.
  const heldBefore = wanting.map(({ line }) => new Set(line.held));
  const due = wanted.length === 0 ? [] : await readDue(deps.db, wanted, me.now);
  const byLine = Map.groupBy(due, lineKey);
  const missed: DueMessage[] = [];
  const fresh: DueMessage[] = [];
  const drained = new Set(
    [...lines.values()].filter(({ look, isLeaving }) => look?.status !== "ACTIVE" || isLeaving),
  );
  for (const [index, { line }] of wanting.entries()) {
    const found = byLine.get(lineKey(line)) ?? [];
    line.deliver = delivers.get(line);
    if (found.length < (wanted[index]?.most ?? 0) || line.deliver === undefined) drained.add(line);
    if (line.deliver === undefined) continue;
    for (const message of found) {
      if (line.held.has(message.id) || heldBefore[index]?.has(message.id)) continue;
      if (line.look !== undefined && message.createdAt < line.look.enabled_at) missed.push(message);
      else fresh.push(message);
    }
  }
  const { ready, pointless } = await readContents(deps.db, fresh, deps.shortUrl);
  await missMessages(deps.db, [...missed, ...pointless]);
  for (const message of ready) {
    const line = lines.get(lineKey(message));
    line?.held.add(message.id);
    line?.ready.push(message);
  }
  if (ready.length < fresh.length - pointless.length) for (const { line } of wanting) drained.delete(line);
  return { read: ready.length + missed.length + pointless.length, drained };
}

function heldText(lines: Iterable<SendingLine>): number {
  let characters = 0;
  for (const { ready } of lines) for (const { body } of ready) characters += body.length;
  return characters;
}

interface Share {
  readonly line: SendingLine;
  readonly most: number;
}

/** Shares what can be read among the lines that want more, in their order, the same for each. */
function shares(
  lines: readonly SendingLine[],
  { room, nowMs }: { readonly room: number; readonly nowMs: number },
): Share[] {
  const wanting = lines.filter((line) => wantedBy(line, nowMs) > 0);
  const each = Math.max(1, Math.floor(room / Math.max(1, wanting.length)));
  return wanting
    .slice(0, Math.max(0, room))
    .map((line) => ({ line, most: Math.min(each, wantedBy(line, nowMs)) }));
}

async function openAll(
  { senders }: TurnDeps,
  lines: readonly SendingLine[],
): Promise<ReadonlyMap<SendingLine, Deliver>> {
  const found = new Map<SendingLine, Deliver>();
  for (const [kind, some] of Map.groupBy(lines, ({ look }) => look?.kind)) {
    if (kind === undefined) continue;
    const delivers = await senders[kind].open(some.map(keyOf));
    for (const line of some) {
      const deliver = delivers.get(line.subscriberId);
      if (deliver !== undefined) found.set(line, deliver);
    }
  }
  return found;
}

function keyOf({ workspaceId, subscriberId }: SendingLine) {
  return { workspaceId, subscriberId };
}

/** Returns whether others can have the places of lines that left although messages are due. */
async function giveBack(
  db: Db,
  me: Owner,
  lines: Map<string, SendingLine>,
  drained: ReadonlySet<SendingLine>,
): Promise<boolean> {
  const done = [...drained].flatMap((line) =>
    line.held.size === 0 && line.look !== undefined ? { ...keyOf(line), revision: line.look.revision } : [],
  );
  let hasRoom = false;
  for (const key of await giveBackLines(db, me, done)) {
    hasRoom = lines.get(lineKey(key))?.isLeaving === true || hasRoom;
    lines.delete(lineKey(key));
  }
  return hasRoom;
}
