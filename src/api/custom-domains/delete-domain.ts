import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  DeleteCustomDomainRequest,
  DeleteCustomDomainResponseSchema,
} from "../../../gen/signpost/v1/custom_domains_service_pb.js";
import { type Db, inTransaction } from "../../db/open.ts";
import { isServed } from "../../domains/status.ts";
import { type Fault, fail, invalid } from "../../lib/errors.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import { notFound } from "../resources/not-found.ts";
import type { DomainDeps } from "./create-domain.ts";
import type { DomainRow } from "./queries.ts";
import { domainInUse } from "./rules.ts";
import { deleteDomain, hasLinks, keepDomain, lockDomain, moveSomeLinks, type NewHome } from "./writes.ts";

/** How many links one call moves at most, so that its transaction stays short. */
const movedMax = 10_000;

/** What is wrong with a request besides the rules of its fields. */
export function deleteFaults({ moveLinksTo, moveLinksToDefault }: DeleteCustomDomainRequest): Fault[] {
  if (moveLinksTo === "" || !moveLinksToDefault) return [];
  const description = "must not be given together with moveLinksToDefault";
  return [{ field: "moveLinksTo", description, reason: "MUTUALLY_EXCLUSIVE_FIELDS" }];
}

/** The service's own short host, which every workspace has. */
const ownHost: NewHome = { id: null, host: "" };

/** Deletes a domain, once its links have moved if the caller says where to: all of it in one transaction, or nothing. */
export async function removeDomain(
  deps: Pick<DomainDeps, "jobCalls" | "now">,
  { id, moveLinksTo, moveLinksToDefault }: DeleteCustomDomainRequest,
  context: Context,
): Promise<MessageInitShape<typeof DeleteCustomDomainResponseSchema>> {
  const { workspaceId } = callerOf(context);
  await inTransaction(context.db, async (tx) => {
    const row = await lockDomain(tx, { workspaceId, id });
    if (row === undefined) throw notFound("custom domain", "id", id);
    const at = deps.now();
    const to = moveLinksToDefault ? ownHost : await findHome(tx, row, moveLinksTo);
    if (to !== undefined) await moveLinks(tx, deps, row, { to, at });
    else if (await hasLinks(tx, { workspaceId, id }))
      throw domainInUse(row.name, "delete them, or move them with moveLinksTo");
    await deleteDomain(tx, row, at);
  });
  return {};
}

/** Where the links go; undefined when they go nowhere. */
async function findHome(
  tx: Db,
  { workspace_id, id }: DomainRow,
  moveLinksTo: string,
): Promise<NewHome | undefined> {
  if (moveLinksTo === "") return undefined;
  if (moveLinksTo.toLowerCase() === id)
    throw invalid([{ field: "moveLinksTo", description: "must be another domain than the deleted one" }]);
  const found = await keepDomain(tx, { workspaceId: workspace_id, id: moveLinksTo });
  if (found === undefined) throw notFound("custom domain", "moveLinksTo", moveLinksTo);
  if (!isServed(found.status)) {
    const { name, status } = found;
    const message = `moveLinksTo: custom domain ${name} has status ${status}: only ACTIVE and RENEWAL_PENDING ones take links`;
    throw fail("FAILED_PRECONDITION", "DOMAIN_NOT_ACTIVE", message, { metadata: { status } });
  }
  return { id: found.id, host: found.name };
}

async function moveLinks(
  tx: Db,
  deps: Pick<DomainDeps, "jobCalls">,
  row: DomainRow,
  move: { readonly to: NewHome; readonly at: Date },
): Promise<void> {
  for (let all = 0; ; ) {
    const { moved, taken } = await moveSomeLinks(tx, deps, row, move);
    if (taken.length > 0)
      throw fail(
        "ALREADY_EXISTS",
        "SHORTLINK_TAKEN",
        `moveLinksTo: short links are taken there: ${taken.join(", ")}; delete these links, or move all elsewhere`,
        { metadata: { shortlink: taken[0] ?? "" } },
      );
    if (moved === 0) return;
    all += moved;
    if (all > movedMax)
      throw domainInUse(
        row.name,
        `one call moves ${movedMax.toLocaleString("en")}: delete some of them first`,
      );
  }
}
