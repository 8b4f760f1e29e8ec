/** The most programs that a member can let in. */
export const grantsMax = 100;
