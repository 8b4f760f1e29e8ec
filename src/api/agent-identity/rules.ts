import type { CompleteAgentClaimRequest } from "../../../gen/signpost/v1/agent_identity_service_pb.js";
import type { Proof } from "../../agents/claimant.ts";
import { type CallError, type Fault, fail } from "../../lib/errors.ts";

/** A claim takes exactly one proof of the person. */
export function proofFaults({ password, firebaseToken }: CompleteAgentClaimRequest): readonly Fault[] {
  if ((password === "") !== (firebaseToken === "")) return [];
  const description = "give exactly one of firebaseToken and password";
  return ["firebaseToken", "password"].map((field) => ({ field, description, reason: "ONE_OF_REQUIRED" }));
}

/** The proof of a request that the rules have accepted. */
export function proofOf({ password, firebaseToken }: CompleteAgentClaimRequest): Proof {
  return password === "" ? { idToken: firebaseToken } : { password };
}

export function noSuchLink(): CallError {
  return fail("NOT_FOUND", "NOT_FOUND", "claimAttemptToken: there is no such claim link");
}
