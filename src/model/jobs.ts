/** Jobs that calls queue, and what each is told, as JSON. A running process meets what older ones told: only ever add to it. */
export interface QueuedJobs {
  readonly "render-qrcode": { readonly workspaceId: string; readonly linkId: string };
  readonly "render-thumbnail": { readonly workspaceId: string; readonly templateId: string };
}

/** Jobs that the clock queues; they are told nothing. */
export type PeriodicJob =
  | "delete-expired"
  | "end-idle-visits"
  | "ensure-partitions"
  | "leave-expired-links"
  | "sweep-files";
