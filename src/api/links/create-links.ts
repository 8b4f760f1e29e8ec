import { type Db, inTransaction, violates } from "../../db/open.ts";
import { fail, refuse } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { othersTurn } from "../../lib/limits/loop-turns.ts";
import { blockedFaults, hostsToScreen } from "../../model/links/screened-url.ts";
import { reservationMs } from "../../model/links/shortlink.ts";
import { defaultDesignOptions } from "../../model/look/design-options.ts";
import type { Entitlement } from "../../model/plans/entitlement.ts";
import { limitReached } from "../../model/plans/limit-reached.ts";
import type { Deps } from "../deps.ts";
import { chargeOf, coveredCheck } from "../resources/credit-queries.ts";
import { type Insertion, insertLinks, type NewLink } from "./create-writes.ts";
import {
  idTaken,
  isLinkId,
  referenceRefusals,
  refersToOthers,
  shortlinkTaken,
  takenRefusals,
  throwRefusals,
} from "./link-refusals.ts";
import type { LinkWithParts } from "./queries.ts";
import { findTaken, lockReferences, type Referenced, type References } from "./reference-queries.ts";
import { tagsInOrder } from "./tag-writes.ts";
import { readTime, type WantedLink, wantedTags } from "./wanted-link.ts";

/** How many random short links are tried. With a billion links, one in 200,000 random short links is taken. */
const randomTries = 5;

/** How many links are made at a time. More take no less time each, and hold up other work for longer. */
const linksOfPortion = 500;

/** The images of many links are drawn after those that somebody may wait for. */
const drawingPriority = { one: 0, many: 10 };

/** The links to make in a workspace. */
export interface Wanted {
  readonly workspaceId: string;
  readonly links: readonly WantedLink[];
  /** What stands before the fields of a link in errors. */
  readonly placeOf: (index: number) => string;
}

/** A link that was made, and its row. The database fills in nothing of its own. */
export interface MadeLink {
  readonly link: NewLink;
  readonly row: LinkWithParts;
}

/** What making links needs. */
export type LinkDeps = Pick<Deps, "now" | "newShortlink" | "jobCalls" | "shortUrl" | "entitlements">;

/** The dependencies of one call, with what its workspace pays for each link. */
interface Making extends LinkDeps {
  readonly entitlement: Entitlement;
}

async function makingFor(deps: LinkDeps, db: Db, workspaceId: string): Promise<Making> {
  return { ...deps, entitlement: await deps.entitlements.of(workspaceId, db) };
}

/** Makes one link: by one statement, or by two in a transaction when it refers to other records. */
export async function createOneLink(
  deps: LinkDeps,
  db: Db,
  workspaceId: string,
  wanted: WantedLink,
): Promise<MadeLink> {
  const making = await makingFor(deps, db, workspaceId);
  if (!refersToOthers(wanted)) return insertOne(making, db, workspaceId, wanted);
  return inTransaction(db, async (tx) => {
    const found = await lockReferences(tx, workspaceId, referencedBy([wanted]));
    throwRefusals(referenceRefusals([wanted], found, deps.shortUrl), () => "");
    return insertOne(making, tx, workspaceId, wanted, found);
  });
}

/** Inserts under the wanted short link, or under random ones until one is free. */
async function insertOne(
  deps: Making,
  db: Db,
  workspaceId: string,
  wanted: WantedLink,
  found?: References,
): Promise<MadeLink> {
  const { shortlink } = wanted;
  if (isLinkId(shortlink)) throw shortlinkTaken(shortlink);
  const link = linkMaker(workspaceId, deps.now(), found)(wanted);
  for (let tries = 0; tries < (shortlink === "" ? randomTries : 1); tries++) {
    const attempt = shortlink === "" ? { ...link, shortlink: deps.newShortlink() } : link;
    const insertion = await insertOrFail(deps, db, [attempt], [wanted]);
    if (insertion.claimed.length === 1) return madeOf(attempt, insertion);
  }
  if (shortlink !== "") throw shortlinkTaken(shortlink);
  throw new Error(`${randomTries} random short links in a row were taken`);
}

/**
 * Makes links in the order given, all or none. Every portion takes three statements, of which two look everything up.
 * Other work gets its turn in between. A later portion sees what an earlier one has taken.
 */
export async function createLinks(deps: LinkDeps, db: Db, wanted: Wanted): Promise<MadeLink[]> {
  const { links, placeOf, workspaceId } = wanted;
  const making = await makingFor(deps, db, workspaceId);
  const at = deps.now();
  return inTransaction(db, async (tx) => {
    const made: MadeLink[] = [];
    for (let start = 0; start < links.length; start += linksOfPortion) {
      if (start > 0) await othersTurn();
      const portion = links.slice(start, start + linksOfPortion);
      const place = { ...wanted, links: portion, placeOf: (index: number) => placeOf(start + index) };
      made.push(...(await createPortion(making, tx, place, at)));
    }
    return made;
  });
}

async function createPortion(
  deps: Making,
  tx: Db,
  { workspaceId, links: wanted, placeOf }: Wanted,
  at: Date,
): Promise<MadeLink[]> {
  const found = await lockReferences(tx, workspaceId, referencedBy(wanted));
  const links = withShortlinks(wanted.map(linkMaker(workspaceId, at, found)), deps.newShortlink);
  const taken = await findTaken(tx, workspaceId, {
    places: links,
    ids: wanted.flatMap(({ id }) => (id === "" ? [] : [id])),
    releasedBefore: releasedBefore(at),
  });
  const hosts = links.map(({ host }) => host);
  const refusals = [
    ...referenceRefusals(wanted, found, deps.shortUrl),
    ...takenRefusals(wanted, hosts, taken),
  ];
  throwRefusals(refusals, placeOf);
  const isTaken = new Set(taken.places.map(({ host, shortlink }) => `${host}/${shortlink}`));
  // Only random ones can still be taken. That the second ones are taken too is next to impossible.
  const free = withShortlinks(
    links.map((link) => (isTaken.has(`${link.host}/${link.shortlink}`) ? { ...link, shortlink: "" } : link)),
    deps.newShortlink,
  );
  const insertion = await insertOrFail(deps, tx, free, wanted);
  if (insertion.claimed.length < free.length) throw interrupted();
  return free.map((link) => madeOf(link, insertion));
}

/** Another call has taken a short link or an id between the look-up and the writing. */
function interrupted() {
  return fail(
    "ABORTED",
    "ABORTED",
    "another call took one of the short links or ids at the same time; try again",
  );
}

/** Gives every link without a short link a random one, none of them twice. */
function withShortlinks(links: readonly NewLink[], newShortlink: () => string): NewLink[] {
  const used = new Set(links.map(({ shortlink }) => shortlink));
  return links.map((link) => {
    if (link.shortlink !== "") return link;
    let shortlink = newShortlink();
    while (used.has(shortlink)) shortlink = newShortlink();
    used.add(shortlink);
    return { ...link, shortlink };
  });
}

async function insertOrFail(
  { jobCalls, entitlement }: Making,
  db: Db,
  links: readonly NewLink[],
  wanted: readonly WantedLink[],
): Promise<Insertion> {
  const [first] = links;
  if (first === undefined) throw new Error("there is no link to make");
  const isOne = links.length === 1;
  try {
    const insertion = await insertLinks(db, {
      workspaceId: first.workspaceId,
      at: first.at,
      releasedBefore: releasedBefore(first.at),
      links,
      screenedHosts: hostsToScreen(wanted.flatMap(({ urls }) => urls)),
      jobCalls,
      drawingPriority: isOne ? drawingPriority.one : drawingPriority.many,
      charge: chargeOf(entitlement, entitlement.linkCost * links.length, first.at),
    });
    refuse(
      blockedFaults(
        wanted.flatMap(({ urls }) => urls),
        new Set(insertion.blocked_hosts),
      ),
    );
    return insertion;
  } catch (error) {
    if (violates(error, "links_pkey")) throw isOne ? idTaken(first.id) : interrupted();
    if (violates(error, coveredCheck)) throw limitReached("PLATFORM_CREDITS", entitlement, first.at);
    throw error;
  }
}

function releasedBefore(at: Date): Date {
  return new Date(at.getTime() - reservationMs);
}

/** All records that links refer to, each once. */
function referencedBy(wanted: readonly WantedLink[]): Referenced {
  const idsOf = (field: "customDomainId" | "directoryId" | "qrcodeDesignId" | "qrcodeTemplateId") => [
    ...new Set(wanted.flatMap((link) => (link[field] === "" ? [] : [link[field]]))),
  ];
  return {
    customDomainIds: idsOf("customDomainId"),
    directoryIds: idsOf("directoryId"),
    qrcodeDesignIds: idsOf("qrcodeDesignId"),
    qrcodeTemplateIds: idsOf("qrcodeTemplateId"),
    screenedHosts: hostsToScreen(wanted.flatMap(({ urls }) => urls)),
  };
}

/** Makes the links to write, as of one moment. Their short links are empty where the request gives none. */
function linkMaker(workspaceId: string, at: Date, found?: References): (wanted: WantedLink) => NewLink {
  const hosts = new Map(found?.domains.map(({ id, name }) => [id, name]));
  const looks = new Map(found?.templates.map(({ id, options }) => [id, options]));
  return (one) => {
    const id = one.id.toLowerCase() || newId(at);
    // Steps are listed by their time and then by their id. These two have the same time, so the entry gets the smaller
    // id.
    const [entryStepId = "", exitStepId = ""] = [newId(at), newId(at)].sort((a, b) => (a < b ? -1 : 1));
    const options = looks.get(one.qrcodeTemplateId.toLowerCase()) ?? defaultDesignOptions;
    return {
      workspaceId,
      id,
      at,
      host: hosts.get(one.customDomainId.toLowerCase()) ?? "",
      shortlink: one.shortlink,
      name: one.name,
      customDomainId: one.customDomainId || null,
      directoryId: one.directoryId || null,
      fallbackDestination: one.fallbackDestination,
      expiresAt: readTime(one.expiresAt),
      expiredDestination: one.expiredDestination,
      purpose: one.purpose,
      metadata: one.metadata,
      design: one.qrcodeDesignId ? { id: one.qrcodeDesignId.toLowerCase() } : { id: newId(at), options },
      qrcodeTemplateId: one.qrcodeTemplateId || null,
      entryStepId,
      exit: { stepId: exitStepId, ...one.exit },
      tags: wantedTags(one.tags).map((tag) => ({ ...tag, id: newId(at), linkId: id })),
    };
  };
}

/** A link and the row that the statement wrote. */
function madeOf(link: NewLink, insertion: Insertion): MadeLink {
  const row: LinkWithParts = {
    workspace_id: link.workspaceId,
    id: link.id,
    name: link.name,
    shortlink: link.shortlink,
    custom_domain_id: link.customDomainId,
    directory_id: link.directoryId,
    fallback_destination: link.fallbackDestination,
    expires_at: link.expiresAt,
    expired_destination: link.expiredDestination,
    purpose: link.purpose,
    metadata: link.metadata,
    page_theme_id: null,
    page_theme_template_id: null,
    qrcode_design_id: link.design.id,
    qrcode_template_id: link.qrcodeTemplateId,
    qrcode_image_key: null,
    qrcode_pending_update_since: link.at,
    created_at: link.at,
    updated_at: link.at,
    domain_name: link.host === "" ? null : link.host,
    event_count: 0n,
    tags: tagsInOrder(link.tags, insertion.tags),
  };
  return { link, row };
}
