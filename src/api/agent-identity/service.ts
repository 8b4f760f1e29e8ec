import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { AgentClaimStatus } from "../../../gen/signpost/v1/agent_claim_link_pb.js";
import type { AgentIdentityService } from "../../../gen/signpost/v1/agent_identity_service_pb.js";
import { findClaimLink } from "../../agents/attempts.ts";
import { type Handlers, inTwoParts, withCheck, withRenewal } from "../../rpc/handlers.ts";
import { scopesOfText } from "../resources/workspace-token.ts";
import { type AgentIdentityDeps, claimWorkspace, renewSession } from "./claim-workspace.ts";
import { noSuchLink, proofFaults } from "./rules.ts";

const statuses = {
  PENDING: AgentClaimStatus.PENDING,
  CLAIMED: AgentClaimStatus.CLAIMED,
  EXPIRED: AgentClaimStatus.EXPIRED,
} as const;

export function agentIdentityService(deps: AgentIdentityDeps): Handlers<typeof AgentIdentityService> {
  const { now, claimTokens: tokens } = deps;
  return {
    async lookupClaim({ claimAttemptToken }, { db }) {
      const link = await findClaimLink({ db, now, tokens }, claimAttemptToken);
      if (link === undefined) throw noSuchLink();
      const { email, status, expiresAt, registeredAt, scope } = link;
      return {
        claimLink: {
          email,
          status: statuses[status],
          expiresAt: timestampFromDate(expiresAt),
          registeredAt: timestampFromDate(registeredAt),
          postClaimScopes: scopesOfText(scope),
        },
      };
    },

    completeClaim: withRenewal(
      (request, stored, context) => renewSession(deps, request, stored, context),
      withCheck(
        proofFaults,
        inTwoParts((request, context) => claimWorkspace(deps, request, context)),
      ),
    ),
  };
}
