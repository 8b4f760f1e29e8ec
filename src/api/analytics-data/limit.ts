/** How many groups an answer has: as many as asked for, at most 100, or the usual number. */
export function limitOf(asked: number, usual: number): number {
  return Math.min(asked || usual, 100);
}
