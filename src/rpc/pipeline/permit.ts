import { isFieldSet, type Message } from "@bufbuild/protobuf";
import type { FieldMask } from "@bufbuild/protobuf/wkt";
import { type CallError, fail, type Reason } from "../../lib/errors.ts";
import type { MethodAccess, MethodPlan } from "../access.ts";
import type { CallState } from "./call-state.ts";
import type { Authenticate, Identity } from "./credentials/authenticate.ts";

/** Throws unless the caller may make calls with this access. Callers without a token have been refused before. */
export function permit(
  { scope, publishable, memberSession, everyRole, fullAccess, refusedInSandbox }: MethodAccess,
  { identity, call }: Pick<CallState, "identity"> & { readonly call: Pick<CallState["call"], "resource"> },
  { scopeRequired }: Pick<Authenticate, "scopeRequired">,
): void {
  if (scope === undefined || identity === undefined) return;
  const { caller, credential } = identity;
  if (refusedInSandbox !== undefined && caller.sandbox) throw notInSandbox(refusedInSandbox);
  // A program to which a member granted scopes is not the member.
  const isMember = credential.kind === "SESSION";
  if (memberSession && !isMember)
    throw fail(
      "PERMISSION_DENIED",
      "MEMBER_SESSION_REQUIRED",
      "sign in as a member; tokens cannot make this call",
    );
  const isLetIn = (publishable && credential.kind === "PUBLISHABLE") || (everyRole && isMember);
  if (!isLetIn && !caller.scopes.has(scope)) throw scopeRequired(scope, credential.kind, call.resource);
  if (fullAccess && !caller.fullAccess) throw fullAccessRequired("this call needs full access");
}

/** Throws when a request gives fields that its caller may not give, or names them in its mask. */
export function permitFields(
  { access }: Pick<MethodPlan, "access">,
  request: Message & { readonly updateMask?: FieldMask },
  identity: Identity | undefined,
): void {
  if (access.fullAccessFields.length === 0 || identity?.caller.fullAccess === true) return;
  const masked = new Set(request.updateMask?.paths);
  const given = access.fullAccessFields.filter(
    (field) => isFieldSet(request, field) || masked.has(field.name) || masked.has("*"),
  );
  if (given.length === 0) return;
  throw fullAccessRequired(`${given.map(({ jsonName }) => jsonName).join(", ")}: needs full access`);
}

function notInSandbox(reason: Reason): CallError {
  const message =
    reason === "LIVE_CREDENTIAL_REQUIRED"
      ? "use a credential of the live workspace; a sandbox has no sandboxes"
      : "sandboxes do not have this; use a credential of the live workspace";
  return fail("PERMISSION_DENIED", reason, message);
}

function fullAccessRequired(what: string): CallError {
  return fail(
    "PERMISSION_DENIED",
    "FULL_ACCESS_REQUIRED",
    `${what}: use a token without chosen scopes, or an administrator's session`,
  );
}
