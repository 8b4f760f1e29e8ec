import type { IncomingMessage } from "node:http";
import type { Logger } from "pino";
import type { Db } from "../db/open.ts";
import type { Origin } from "../lib/client-address.ts";
import type { CallError } from "../lib/errors.ts";
import type { QueuedJobs } from "../model/jobs.ts";
import type { OauthServer } from "../oauth/server.ts";
import type { SignedSession, VerifySession } from "../people/sessions.ts";
import type { SignInDeps } from "../people/sign-in.ts";
import type { Standings } from "../people/standing.ts";
import type { AgentsDeps } from "./agent-endpoints.ts";

/** What the sign-in pages and the JSON session are given. */
export interface AuthDeps extends SignInDeps {
  /** Public address of the pages, without a slash at the end. */
  readonly authUrl: string;
  /** The key for `sign-in-forms`. */
  readonly formKey: Uint8Array;
  readonly verifySession: VerifySession;
  readonly originOf: (req: IncomingMessage) => Origin;
  /** The JSON of a member, with the token of the session. Undefined when the member was deleted meanwhile. */
  readonly memberJson: (db: Db, session: SignedSession) => Promise<string | undefined>;
  /** Takes one request from the rate of an address. Seconds to wait when nothing is left of it. */
  readonly secondsToWait: (address: string) => number | undefined;
  readonly queueJob: <Task extends "mail-reset" | "sign-up">(
    db: Db,
    task: Task,
    payload: { readonly [Field in keyof QueuedJobs[Task]]: string },
  ) => Promise<void>;
  readonly agents: AgentsDeps;
  /** Whether strangers may make workspaces. */
  readonly allowsSignUp: boolean;
  readonly oauth: OauthServer;
  /** What each scope allows, in words. */
  readonly scopeDescriptions: ReadonlyMap<string, string>;
  /** Makes the end of a grant effective in this process. */
  readonly onRevoked: (grantId: string) => void;
  /** Makes the end of a session effective in this process. */
  readonly onMemberChanged: Standings["forget"];
  /** Turns whatever was thrown into the error that clients see. */
  readonly toCallError: (error: unknown) => CallError;
  /** The status and the JSON body of an error. */
  readonly errorAnswer: (error: CallError) => { readonly status: number; readonly body: string };
  readonly log: Pick<Logger, "info" | "error">;
}
