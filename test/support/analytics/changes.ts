import { randomUUID } from "node:crypto";
import { sealWorkspace } from "../../../src/analytics/segments/seal-workspace.ts";
import { openSession } from "../../../src/analytics/segments/session.ts";
import { readPlanTable } from "../../../src/model/plans/read-plan-table.ts";
import { lbidOfEvent } from "../../../src/model/visitors/lbid.ts";
import { revealVisits } from "../../../src/visitors/reveal-visits.ts";
import { rebuildRollUps, shareRollUps } from "../../../src/visitors/roll-ups.ts";
import { markVisits } from "../../../src/visitors/segment-marks.ts";
import type { Random } from "../../fuzz/random.ts";
import type { Api, TestWorkspace } from "../start-api.ts";
import { storeVisitors, storeVisits } from "./store-world.ts";
import {
  lockedNumberMax,
  randomMoment,
  randomVisit,
  randomVisitor,
  type World,
  type WorldVisit,
  type WorldVisitor,
} from "./world.ts";

/** A world and the workspace in which it is stored. */
export interface Place {
  readonly workspace: Pick<TestWorkspace, "workspaceId" | "rest">;
  readonly world: World;
  /** No plan limits a sandbox, so that it has no locked visits to reveal. */
  readonly isSandbox: boolean;
}

type Change = (api: Api, place: Place, random: Random) => Promise<void>;

const isAnonymous = ({ email, plan }: WorldVisitor) => email === undefined && plan === undefined;
const isKnown = ({ email }: WorldVisitor) => email !== undefined;

function visitsOf({ visits }: World, visitor: WorldVisitor | undefined): WorldVisit[] {
  return visits.filter((visit) => visit.visitor === visitor);
}

async function identify({ workspace }: Place, visit: WorldVisit | undefined, email: string | undefined) {
  if (visit === undefined || email === undefined) return false;
  const request = { lbid: lbidOfEvent(visit.id), visitor: { $email: email } };
  const { status, text } = await workspace.rest("POST", "/v1/visitor/identify", request);
  if (status !== 200) throw new Error(text);
  return true;
}

/** An anonymous visitor turns out to be a known one: the two are merged. */
const merge: Change = async (_api, place, random) => {
  const { visitors } = place.world;
  const [from, into] = [random.pick(visitors.filter(isAnonymous)), random.pick(visitors.filter(isKnown))];
  const own = visitsOf(place.world, from);
  if (from === undefined || !(await identify(place, random.pick(own), into?.email))) return;
  for (const visit of own) visit.visitor = into;
  Object.assign(into ?? {}, { isMerged: true });
  visitors.splice(visitors.indexOf(from), 1);
};

/** An anonymous visitor gives an address that nobody has. */
const promote: Change = async (_api, place, random) => {
  const visitor = random.pick(place.world.visitors.filter(isAnonymous));
  const email = `${randomUUID()}@example.com`;
  if (visitor !== undefined && (await identify(place, random.pick(visitsOf(place.world, visitor)), email)))
    visitor.email = email;
};

/** A known visitor, or nobody, turns out to be another one in one visit, which moves alone. */
const move: Change = async (_api, place, random) => {
  const { visitors, visits } = place.world;
  const into = random.pick(visitors.filter(isKnown));
  const visit = random.pick(visits.filter(({ visitor }) => visitor === undefined || isKnown(visitor)));
  if (await identify(place, visit, into?.email)) Object.assign(visit ?? {}, { visitor: into });
};

const erase: Change = async (_api, { workspace, world }, random) => {
  const visitor = random.pick(world.visitors);
  if (visitor === undefined) return;
  const { status, text } = await workspace.rest("DELETE", `/v1/visitors/${visitor.id}`);
  if (status !== 200) throw new Error(text);
  for (const visit of visitsOf(world, visitor)) visit.visitor = undefined;
  world.visitors.splice(world.visitors.indexOf(visitor), 1);
};

/** Visits of times long gone arrive, with a visitor whom nobody has seen. */
const arriveLate: Change = async (api, { workspace, world }, random) => {
  const visitor = randomVisitor(random, world.visits.length);
  await storeVisitors(api.db, workspace.workspaceId, [visitor]);
  world.visitors.push(visitor);
  const visits = Array.from({ length: 1 + random.below(20) }, () => randomVisit(random, world));
  for (const visit of visits.slice(0, 2)) visit.visitor = visitor;
  const { workspaceId } = workspace;
  await api.db.transaction().execute(async (tx) => {
    await shareRollUps([workspaceId]).execute(tx);
    await storeVisits(tx, workspaceId, visits);
    const counted = visits.filter(({ counted }) => counted);
    await markVisits(
      tx,
      counted.map(({ at }) => ({ workspaceId, at })),
    );
  });
  world.visits.push(...visits);
};

/** What is due at a random moment is sealed; marks that are too new stay. */
const seal: Change = async (api, { workspace }, random) => {
  const session = await openSession(api.database.connection);
  const at = new Date(randomMoment(random));
  const settledMs = random.percent(50) ? 0 : 60_000;
  await sealWorkspace({ session, now: () => at, settledMs, openMax: 20 }, workspace.workspaceId);
  await session.close();
};

/** The plan's limit grows, so that locked visits are revealed up to a number. */
const reveal: Change = async (api, { workspace, world, isSandbox }, random) => {
  if (isSandbox) return;
  const TRACKED_VISITS = random.below(lockedNumberMax + 1);
  const limited = { limits: { TRACKED_VISITS } };
  const plans = readPlanTable({ plans: { FREE: limited, PRO: limited, ENTERPRISE: limited } }, true, []);
  const fits = ({ lockedNumber }: WorldVisit) => lockedNumber !== undefined && lockedNumber <= TRACKED_VISITS;
  const cycle = { workspace_id: workspace.workspaceId, limit_key: "TRACKED_VISITS", cycle: "2024-02" };
  await api.db
    .insertInto("allowance_cycles")
    .values({ ...cycle, used: 2_000n, locked: BigInt(world.visits.length) })
    .execute();
  await revealVisits({ db: api.db, plans, now: api.now });
  // The visits of other places stay locked when this place's limit grows.
  await api.db.deleteFrom("allowance_cycles").where("workspace_id", "=", workspace.workspaceId).execute();
  for (const visit of world.visits.filter(fits)) {
    visit.counted = true;
    visit.lockedNumber = undefined;
  }
};

const retag: Change = async (_api, { workspace, world }, random) => {
  const link = random.pick(world.links.filter(({ isDeleted }) => !isDeleted));
  if (link === undefined) return;
  const tags = ["red", "blue"].filter(() => random.percent(50));
  const { status, text } = await workspace.rest("PATCH", `/v1/links/${link.id}`, { tags });
  if (status !== 200) throw new Error(text);
  link.tags = tags;
};

const deleteLink: Change = async (_api, { workspace, world }, random) => {
  const living = world.links.filter(({ isDeleted }) => !isDeleted);
  const link = random.pick(living);
  if (link === undefined || living.length < 3) return;
  const { status, text } = await workspace.rest("DELETE", `/v1/links/${link.id}`);
  if (status !== 200) throw new Error(text);
  Object.assign(link, { isDeleted: true, tags: [] });
};

const rebuild: Change = async (api, { workspace }) => rebuildRollUps(api.db, workspace.workspaceId);

/** Everything that may change a number after its visits were stored, as the service does it. */
export const changes: Readonly<Record<string, Change>> = {
  seal,
  merge,
  promote,
  move,
  erase,
  arriveLate,
  reveal,
  retag,
  deleteLink,
  rebuild,
};
