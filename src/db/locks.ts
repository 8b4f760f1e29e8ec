/**
 * The classes of advisory locks. The numbers never change, because processes of two versions run side by side during an
 * upgrade.
 */
export const lockClasses = {
  /** A worker pool holds its lock while it lives, so that others see which pools have died. */
  workerPool: 7_251_002,
  /** Processes that start at once on an empty database take turns, and the first one makes the workspace. */
  firstStart: 7_251_003,
  /** Writers that fold events of a workspace share it; a rebuild of its roll-ups holds it alone. */
  rollUps: 7_251_004,
  /** Calls that identify visitors by the same e-mail address or phone number wait for each other. */
  identity: 7_251_005,
  /** Calls that change the tree of a workspace's directories take turns. */
  directories: 7_251_006,
  /** Calls that change who administers a workspace take turns. */
  members: 7_251_007,
  /** Calls that make one more of what the plan limits in total take turns, by workspace and limit. */
  totals: 7_251_008,
  /** One process at a time seals segments of a workspace. */
  sealing: 7_251_009,
  /** Refreshes of the pages of a workspace's visitors: one at a time. */
  visitorPages: 7_251_010,
} as const;
