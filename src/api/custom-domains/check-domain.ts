import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  CheckCustomDomainRequest,
  CheckCustomDomainResponseSchema,
} from "../../../gen/signpost/v1/custom_domains_service_pb.js";
import { inTransaction } from "../../db/open.ts";
import { findDomain } from "../../domains/check-domain.ts";
import { beginCheck, checkPauseMs } from "../../domains/names.ts";
import { settleDomain } from "../../domains/settle.ts";
import { callerOf, inTwoParts } from "../../rpc/handlers.ts";
import { toCustomDomain } from "../resources/domains/custom-domain.ts";
import { notFound } from "../resources/not-found.ts";
import type { DomainDeps } from "./create-domain.ts";
import { checkedTooSoon } from "./rules.ts";

type Answer = MessageInitShape<typeof CheckCustomDomainResponseSchema>;

/** Checks a domain now. A domain that has lost its name to another workspace stays as it is. */
export function checkDomain({ domains, now }: Pick<DomainDeps, "domains" | "now">) {
  return inTwoParts<CheckCustomDomainRequest, Answer>(async ({ id }, context) => {
    const { workspaceId } = callerOf(context);
    const before = await findDomain(context.db, { workspaceId, id });
    if (before === undefined) throw notFound("custom domain", "id", id);
    const { name } = before;
    if (domains.isCrowded(workspaceId)) throw checkedTooSoon(name, checkPauseMs);
    const wait = await beginCheck(context.db, { name, id, at: now() });
    if (wait === undefined) return async () => ({ customDomain: toCustomDomain(before) });
    if (wait > 0) throw checkedTooSoon(name, wait);
    const needsProof = before.verified_at === null;
    const dns = await domains.check({ workspaceId, name, needsProof }, context.signal);
    const settling = { certificates: domains.certificates, now };
    return (db) =>
      inTransaction(db, async (tx) => {
        const after = await settleDomain(tx, settling, { workspaceId, id }, { dns });
        if (after === undefined) throw notFound("custom domain", "id", id);
        return { customDomain: toCustomDomain(after) };
      });
  });
}
