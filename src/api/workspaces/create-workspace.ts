import { createHash } from "node:crypto";
import { type Db, violates } from "../../db/open.ts";
import { fail } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { defaultPlans, type PlanTable } from "../../model/plans/plan-table.ts";
import { everyScope } from "../../model/scope.ts";
import { defaultTokenName, type SignToken } from "../../model/token.ts";
import { hashPassword } from "../../people/passwords.ts";
import { insertEmptyWorkspace, insertWorkspace, type NewWorkspaceRows } from "./queries.ts";

export interface CreateWorkspaceDeps {
  readonly db: Db;
  readonly now: () => Date;
  readonly signToken: SignToken;
  /** The plans in force; without them nothing limits the workspace. */
  readonly plans?: PlanTable;
  /** Argon2id when absent, which takes 15 ms. */
  readonly hashPassword?: (password: string) => Promise<string>;
}

export interface WorkspaceOrder {
  readonly name: string;
  /** The e-mail address of the first member, an admin, in any case. */
  readonly email: string;
  /** Kept as an Argon2id hash. */
  readonly password: string;
}

export interface CreatedWorkspace {
  readonly workspaceId: string;
  readonly memberId: string;
  readonly tokenId: string;
  /** A live secret token, shown once. */
  readonly accessToken: string;
}

/** Makes a live workspace with its link setting, an admin and a secret token, all or nothing. */
export async function createWorkspace(
  { db, now, signToken, plans = defaultPlans, hashPassword: hash = hashPassword }: CreateWorkspaceDeps,
  { name, email, password }: WorkspaceOrder,
): Promise<CreatedWorkspace> {
  const at = now();
  const [workspaceId, linkSettingId, memberId, tokenId] = [newId(at), newId(at), newId(at), newId(at)];
  const [accessToken, passwordHash] = await Promise.all([
    signToken({
      tokenId,
      workspaceId,
      keyType: "SECRET",
      environment: "live",
      scope: everyScope,
      issuedAt: at,
    }),
    hash(password),
  ]);
  const ids = { workspaceId, linkSettingId, memberId, tokenId };
  const rows = rowsOf(ids, { name, email, passwordHash, at, plans });
  await insert(db, { ...rows, token: tokenRow(ids, accessToken, at) });
  return { workspaceId, memberId, tokenId, accessToken };
}

/**
 * Makes the workspace of somebody who signs up: its admin has no password until the link of a mail sets it, and nobody
 * is there to be told a token.
 */
export async function createPendingWorkspace(
  db: Db,
  { name, email }: Pick<WorkspaceOrder, "name" | "email">,
  at: Date,
  plans: PlanTable = defaultPlans,
): Promise<void> {
  const ids = { workspaceId: newId(at), linkSettingId: newId(at), memberId: newId(at) };
  await insert(db, rowsOf(ids, { name, email, passwordHash: null, at, plans }));
}

/**
 * Makes the workspace of an agent, in the caller's transaction. It has no members until somebody claims it, and returns its
 * id.
 */
export async function createUnclaimedWorkspace(
  db: Db,
  name: string,
  at: Date,
  plans: PlanTable = defaultPlans,
): Promise<string> {
  const ids = { workspaceId: newId(at), linkSettingId: newId(at) };
  const { workspace, linkSetting } = emptyWorkspace(ids, { name, at, plans });
  await insertEmptyWorkspace(db, { workspace: { ...workspace, awaits_claim: true }, linkSetting });
  return ids.workspaceId;
}

async function insert(db: Db, rows: NewWorkspaceRows): Promise<void> {
  try {
    await insertWorkspace(db, rows);
  } catch (error) {
    if (!violates(error, "member_emails_pkey")) throw error;
    throw fail(
      "ALREADY_EXISTS",
      "EMAIL_ALREADY_REGISTERED",
      `${rows.member.email} already has an account; choose another address`,
    );
  }
}

interface NewIds {
  readonly workspaceId: string;
  readonly linkSettingId: string;
  readonly memberId: string;
}

interface NewFacts extends Pick<WorkspaceOrder, "name" | "email"> {
  readonly passwordHash: string | null;
  readonly at: Date;
  readonly plans: PlanTable;
}

/** The subscription that a workspace begins with. */
function firstSubscription(
  { inForce, trial }: PlanTable,
  at: Date,
): Pick<NewWorkspaceRows["workspace"], "subscription_type" | "trial_ends_at"> {
  if (!inForce) return { subscription_type: "ENTERPRISE_PLAN" };
  if (trial.days === 0) return { subscription_type: "UNSPECIFIED" };
  return { subscription_type: "FREE_TRIAL", trial_ends_at: new Date(at.getTime() + trial.days * dayMs) };
}

const dayMs = 24 * 60 * 60_000;

function emptyWorkspace(
  { workspaceId, linkSettingId }: Omit<NewIds, "memberId">,
  { name, at, plans }: Pick<NewFacts, "name" | "at" | "plans">,
): Pick<NewWorkspaceRows, "workspace" | "linkSetting"> {
  const times = { created_at: at, updated_at: at };
  return {
    workspace: {
      id: workspaceId,
      name,
      ...firstSubscription(plans, at),
      link_setting_id: linkSettingId,
      ...times,
    },
    linkSetting: { workspace_id: workspaceId, id: linkSettingId, data_collection: "BASIC", ...times },
  };
}

function rowsOf(ids: NewIds, facts: NewFacts): NewWorkspaceRows {
  const { workspaceId, memberId } = ids;
  const { email, passwordHash, at } = facts;
  const times = { created_at: at, updated_at: at };
  return {
    ...emptyWorkspace(ids, facts),
    member: {
      workspace_id: workspaceId,
      id: memberId,
      email: email.trim().toLowerCase(),
      role: "ADMIN",
      password_hash: passwordHash,
      ...times,
    },
  };
}

function tokenRow(
  { workspaceId, memberId, tokenId }: Pick<NewIds, "workspaceId" | "memberId"> & { readonly tokenId: string },
  accessToken: string,
  at: Date,
): NonNullable<NewWorkspaceRows["token"]> {
  return {
    workspace_id: workspaceId,
    id: tokenId,
    name: defaultTokenName,
    key_type: "SECRET",
    scope: everyScope,
    token_hash: createHash("sha256").update(accessToken).digest(),
    created_by: memberId,
    created_at: at,
    updated_at: at,
  };
}
