import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  GetLeadScoreRequest,
  GetLeadScoreResponseSchema,
} from "../../../gen/signpost/v1/links_service_pb.js";
import { fail } from "../../lib/errors.ts";
import { scoringContextOf } from "../../model/visitors/lead-score.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import { notFound } from "../resources/not-found.ts";
import { findLeadScore } from "./queries.ts";

/** The stored score of a visit. Nothing is computed here. */
export async function getLeadScore(
  { linkId, eventId }: GetLeadScoreRequest,
  context: Context,
): Promise<MessageInitShape<typeof GetLeadScoreResponseSchema>> {
  const found = await findLeadScore(context.db, callerOf(context).workspaceId, linkId, eventId);
  if (found === undefined) throw notFound("link", "linkId", linkId);
  const { purpose, ...event } = found;
  if (event.id === null) throw notFound("event of this link", "eventId", eventId);
  if (event.lead_score === null)
    throw fail(
      "NOT_FOUND",
      "LEAD_SCORE_NOT_FOUND",
      `eventId: the visit ${eventId} has no score: it is still under way, or it is not scored`,
    );
  return {
    leadScore: event.lead_score,
    breakdown: {
      ...(event.engagement_level !== null && { engagementLevel: event.engagement_level }),
      ...(event.technological_aptitude !== null && { technologicalAptitude: event.technological_aptitude }),
      ...(event.recurring_interest !== null && { recurringInterest: event.recurring_interest }),
      ...(event.brand_supportiveness !== null && { brandSupportiveness: event.brand_supportiveness }),
      ...(event.profile_fit !== null && { profileFit: event.profile_fit }),
    },
    ...(event.recurring_scans !== null && { recurringScans: event.recurring_scans }),
    scoringContext: scoringContextOf(purpose),
  };
}
