/**
 * The classes of advisory locks: each has a number of its own, fixed for good, because processes of two versions run side
 * by side during an upgrade..
 */
export const lockClasses = {
  /** A worker pool holds one for as long as it lives, so that others see whose jobs are left behind. */
  workerPool: 7_251_002,
  /** Processes that start at once on an empty database take turns, and the first one makes the workspace. */
  firstStart: 7_251_003,
  /** Those who fold events of a workspace share it; whoever rebuilds its roll-ups holds it alone. */
  rollUps: 7_251_004,
  /** Calls that identify visitors by the same e-mail address or phone number wait for each other. */
  identity: 7_251_005,
} as const;
