/**
 * The processor time that this thread has used, in milliseconds. A test of how long something takes reads it in place of
 * a clock, which goes on while a busy machine does other work.
 */
export function usedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
