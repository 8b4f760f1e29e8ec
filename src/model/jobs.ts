import type { MailKind } from "./mail.ts";

/**
 * Jobs that calls queue, with the JSON that each is told. A running process meets what older ones queued, so only ever
 * add to it.
 */
export interface QueuedJobs {
  readonly "render-qrcode": { readonly workspaceId: string; readonly linkId: string };
  readonly "create-links": { readonly workspaceId: string; readonly jobId: string };
  readonly "replay-webhook": { readonly workspaceId: string; readonly jobId: string };
  readonly "export-events": { readonly workspaceId: string; readonly exportId: string };
  /** Some exports of the workspace have expired. */
  readonly "delete-exports": { readonly workspaceId: string };
  /** A badge or a cover was uploaded. */
  readonly "make-page-images": { readonly workspaceId: string; readonly mediaId: string };
  readonly "render-thumbnail": { readonly workspaceId: string; readonly templateId: string };
  /** An integration is gone. Its token is sealed, in base64. */
  readonly "revoke-slack-token": { readonly sealedToken: string };
  readonly "render-page-theme-thumbnail": { readonly workspaceId: string; readonly templateId: string };
  /**
   * A Google account was disconnected. The fields have names of their own, because a purge drops the jobs of its workspace,
   * and this one is to be done all the same.
   */
  readonly "revoke-google-grant": {
    readonly ownerId: string;
    readonly integrationId: string;
    /** The account's id at Google. */
    readonly subject: string;
    /** The sealed token in hexadecimal. */
    readonly token: string;
  };
  /** A domain waits for its certificate; the clock queues the job too. */
  readonly "order-certificates": Readonly<Record<never, never>>;
  /** Somebody asks for a new password; the address may be unknown. */
  readonly "mail-reset": { readonly email: string };
  /** Somebody wants a workspace; the address may be known. */
  readonly "sign-up": { readonly email: string; readonly name: string };
  readonly "send-mail": {
    /** Makes the Message-ID, so that a mail that is sent twice is shown once. */
    readonly mailId: string;
    readonly workspaceId: string;
    /** The member whose name and language the mail has. */
    readonly memberId: string;
    readonly kind: MailKind;
    /** The address it goes to; a member's address may have changed since. */
    readonly to: string;
    /** `MailFacts` of the kind, as JSON. Links and codes are made from the ids of challenges when the mail is sent. */
    readonly facts: string;
  };
}

/**
 * Jobs that run one after the other, whoever queued them: an export works for a minute, and every workspace has one at a
 * time, so that everybody's turn comes. One job orders certificates for all names. Images take a second each, and leave room for other jobs.
 */
export const queueOf: { readonly [Task in keyof QueuedJobs]?: string } = {
  "export-events": "exports",
  "order-certificates": "certificates",
  "make-page-images": "page-images",
};

/** Jobs that the clock queues. They are told nothing. */
export type PeriodicJob =
  | "apply-plans"
  | "check-domains"
  | "delete-expired"
  | "delete-waiting"
  | "end-idle-visits"
  | "ensure-partitions"
  | "leave-expired-links"
  | "fetch-form-responses"
  | "note-inactivity"
  | "order-certificates"
  | "purge-workspaces"
  | "refresh-visitor-pages"
  | "seal-segments"
  | "send-digests"
  | "sweep-files";

/** How long the outcome of a job that a call started can be read after its end. */
export const jobKeptMs = 24 * 60 * 60 * 1000;
