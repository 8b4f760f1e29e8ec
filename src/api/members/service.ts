import { create } from "@bufbuild/protobuf";
import { MemberSchema } from "../../../gen/signpost/v1/member_pb.js";
import type { MembersService } from "../../../gen/signpost/v1/members_service_pb.js";
import { fillPage } from "../../lib/paging/fill-page.ts";
import { readPage } from "../../lib/paging/page.ts";
import { createPasswordGate } from "../../people/passwords.ts";
import { type Context, callerOf, type Handlers, inTwoParts, withCheck } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { allowAccess, forceSignout, removeMember, revokeAccess } from "./end-access.ts";
import { inviteMember } from "./invite-member.ts";
import { toMember } from "./message.ts";
import { countMembers, findMember, listMembers, type MemberRow } from "./queries.ts";
import { noSuchMember } from "./rules.ts";
import { emailFaults, updateMember } from "./update-member.ts";
import { myselfFaults, newPasswordHash, updateMyself } from "./update-myself.ts";

export interface MembersDeps {
  /** Makes a change of a member's role or sessions effective in this process, once its transaction has committed. */
  readonly onMemberChanged: (member: { readonly workspaceId: string; readonly memberId: string }) => void;
}

type ServiceDeps = Pick<Deps, "now" | "jobCall" | "entitlements"> & MembersDeps;

export function membersService(deps: ServiceDeps): Handlers<typeof MembersService> {
  const answer = answerWith(deps);
  const passwords = createPasswordGate();
  return {
    async getMyself(_request, context) {
      return { member: toMember(await existing(context, memberIdOf(context))) };
    },

    updateMyself: withCheck(
      myselfFaults,
      inTwoParts(async (request, context) => {
        const passwordHash = await newPasswordHash(request, passwords, context.address);
        const [caller, memberId] = [callerOf(context), memberIdOf(context)];
        return async (db) =>
          answer(context, await updateMyself(db, request, { ...deps, caller, memberId, passwordHash }));
      }),
    ),

    async list(request, context) {
      const { workspaceId } = callerOf(context);
      const page = readPage(request, { key: "time", sort: "members newest first", filters: { workspaceId } });
      const [rows, totalCount] = await Promise.all([
        listMembers(context.db, workspaceId, page),
        countMembers(context.db, workspaceId),
      ]);
      const { records, nextPageToken } = await fillPage(page, {
        rows,
        edgeOf: (row) => ({ key: row.created_at, id: row.id }),
        recordOf: (row) => create(MemberSchema, toMember(row)),
        write: (member) => context.writeRecord(MemberSchema, member),
      });
      return { members: records, nextPageToken, totalCount };
    },

    async get({ id }, context) {
      return { member: toMember(await existing(context, id)) };
    },

    async invite(request, context) {
      return {
        member: toMember(await inviteMember(context.db, request, callerOf(context), deps)),
      };
    },

    update: withCheck(
      (request) => emailFaults(request),
      async (request, context) =>
        answer(context, await updateMember(context.db, request, { ...deps, caller: callerOf(context) })),
    ),

    async allowAccess({ id }, context) {
      return answer(context, await allowAccess(context.db, id, { ...deps, caller: callerOf(context) }));
    },

    async revokeAccess({ id }, context) {
      return answer(context, await revokeAccess(context.db, id, { ...deps, caller: callerOf(context) }));
    },

    async forceSignout({ id }, context) {
      return answer(context, await forceSignout(context.db, id, { ...deps, caller: callerOf(context) }));
    },

    async delete({ id }, context) {
      const caller = callerOf(context);
      await removeMember(context.db, id, { ...deps, caller });
      context.afterCommit(async () => {
        deps.onMemberChanged({ workspaceId: caller.workspaceId, memberId: id });
        return {};
      });
      return {};
    },
  };
}

/** Answers with a member as it is after a change. The change counts once it is committed, not before. */
function answerWith({ onMemberChanged }: MembersDeps) {
  return (context: Context, row: MemberRow) => {
    const answer = { member: toMember(row) };
    context.afterCommit(async () => {
      onMemberChanged({ workspaceId: row.workspace_id, memberId: row.id });
      return answer;
    });
    return answer;
  };
}

async function existing(context: Context, id: string): Promise<MemberRow> {
  const row = await findMember(context.db, callerOf(context).workspaceId, id);
  if (row === undefined) throw noSuchMember(id);
  return row;
}

/** The calling member; the pipeline refuses everybody else. */
function memberIdOf(context: Context): string {
  const { memberId } = callerOf(context);
  if (memberId === undefined) throw new Error("a call for members has no member");
  return memberId;
}
