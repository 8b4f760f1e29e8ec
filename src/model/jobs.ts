/**
 * Jobs that calls queue, with the JSON that each is told. A running process meets what older ones queued, so only ever
 * add to it.
 */
export interface QueuedJobs {
  readonly "render-qrcode": { readonly workspaceId: string; readonly linkId: string };
  readonly "render-thumbnail": { readonly workspaceId: string; readonly templateId: string };
}

/** Jobs that the clock queues. They are told nothing. */
export type PeriodicJob =
  | "delete-expired"
  | "end-idle-visits"
  | "ensure-partitions"
  | "leave-expired-links"
  | "sweep-files";
