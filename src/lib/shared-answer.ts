/** Asks once for everybody who wants to know within `ms`: an answer is given again until it is that old. */
export function sharedAnswer<Answer>(ms: number, ask: () => Promise<Answer>): () => Promise<Answer> {
  let answer: Promise<Answer> | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  return () => {
    // A stopwatch only.
    const now = performance.now();
    if (answer === undefined || now - askedAt >= ms) {
      askedAt = now;
      answer = ask();
    }
    return answer;
  };
}
