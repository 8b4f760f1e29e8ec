import type { DescService } from "@bufbuild/protobuf";
import type { Client } from "@connectrpc/connect";
import type { MemberRole } from "../../gen/database.ts";
import { newId } from "../../src/lib/ids.ts";
import { deriveKey } from "../../src/lib/keys.ts";
import { createSessionSigner, type SignedSession } from "../../src/people/sessions.ts";
import { type Api, masterSecret, type Rest, type RpcProtocol } from "./start-api.ts";

/** A member who has signed in. */
export interface SignedIn extends SignedSession {
  readonly email: string;
  /** Calls with the session. */
  readonly rest: Rest;
  /** A client with the session, over gRPC unless another protocol is named. */
  client<S extends DescService>(service: S, protocol?: RpcProtocol): Client<S>;
}

const signSession = createSessionSigner(deriveKey(masterSecret, "member-sessions"));

/** Makes a new member of a workspace and a session of it. */
export async function signInAs(
  api: Pick<Api, "db" | "now" | "rest" | "client">,
  { workspaceId }: { readonly workspaceId: string },
  { role = "ADMIN" }: { readonly role?: MemberRole } = {},
): Promise<SignedIn> {
  const at = api.now();
  const memberId = newId(at);
  const email = `${memberId}@example.com`;
  await api.db
    .insertInto("member_emails")
    .values({ email, workspace_id: workspaceId, member_id: memberId })
    .execute();
  await api.db
    .insertInto("members")
    .values({
      ...{ workspace_id: workspaceId, id: memberId, email, role },
      ...{ email_verified_at: at, created_at: at, updated_at: at },
    })
    .execute();
  return signedIn(api, { workspaceId, memberId });
}

/** Another session of a member that exists. */
export async function signedIn(
  api: Pick<Api, "db" | "now" | "rest" | "client">,
  { workspaceId, memberId }: { readonly workspaceId: string; readonly memberId: string },
): Promise<SignedIn> {
  const { email, session_epoch: epoch } = await api.db
    .selectFrom("members")
    .select(["email", "session_epoch"])
    .where("workspace_id", "=", workspaceId)
    .where("id", "=", memberId)
    .executeTakeFirstOrThrow();
  const session = await signSession({ workspaceId, memberId, epoch }, api.now());
  return {
    ...session,
    email,
    rest: api.rest(session.accessToken),
    client: (service, protocol) => api.client(service, session.accessToken, protocol),
  };
}
