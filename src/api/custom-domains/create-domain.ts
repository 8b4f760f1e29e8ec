import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  CreateCustomDomainRequest,
  CreateCustomDomainResponseSchema,
} from "../../../gen/signpost/v1/custom_domains_service_pb.js";
import { inTransaction } from "../../db/open.ts";
import type { Domains } from "../../domains/domains.ts";
import { claimName, stateOfName } from "../../domains/names.ts";
import { ownershipRecord } from "../../domains/ownership.ts";
import { settleDomain } from "../../domains/settle.ts";
import { invalid } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { callerOf, inTwoParts } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { toCustomDomain } from "../resources/domains/custom-domain.ts";
import { checkPlanRoom } from "../resources/room-queries.ts";
import { domainReserved, domainTaken } from "./rules.ts";
import { insertDomain } from "./writes.ts";

export interface DomainDeps extends Pick<Deps, "entitlements" | "jobCalls" | "now" | "shortUrl"> {
  readonly domains: Domains;
}

type Answer = MessageInitShape<typeof CreateCustomDomainResponseSchema>;

/**
 * Registers a domain and checks it. Name servers are asked before the transaction. Where too many checks of the workspace wait,
 * the domain is checked within a minute instead.
 */
export function createDomain({ domains, ...deps }: DomainDeps) {
  return inTwoParts<CreateCustomDomainRequest, Answer>(async (request, context) => {
    const { workspaceId } = callerOf(context);
    const reading = await domains.readName(request.name);
    if ("fault" in reading) throw invalid([{ field: "name", description: reading.fault }]);
    const { name } = reading;
    const wanted = { name, workspaceId };
    const state = await stateOfName(context.db, { ...wanted, at: deps.now() });
    if (state === "held") throw domainTaken(name);
    const isCrowded = domains.isCrowded(workspaceId);
    const dns = isCrowded ? undefined : await domains.check({ ...wanted, needsProof: true }, context.signal);
    const isProved = dns?.isOwned === true;
    return (db) =>
      inTransaction(db, async (tx) => {
        const at = deps.now();
        const id = newId(at);
        if (!(await claimName(tx, { ...wanted, id, at, isProved }))) {
          const isReserved = (await stateOfName(tx, { ...wanted, at })) === "reserved";
          throw isReserved ? domainReserved(name, proofOf(domains, wanted)) : domainTaken(name);
        }
        await checkPlanRoom(tx, deps, workspaceId, "CUSTOM_DOMAINS");
        await insertDomain(tx, { workspaceId, id, name, at });
        const settling = { certificates: domains.certificates, now: deps.now };
        const row = await settleDomain(tx, settling, { workspaceId, id }, dns === undefined ? {} : { dns });
        return row && { customDomain: toCustomDomain(row) };
      });
  });
}

function proofOf(domains: Domains, of: { readonly workspaceId: string; readonly name: string }) {
  return { name: ownershipRecord(of.name), token: domains.tokenOf(of) };
}
