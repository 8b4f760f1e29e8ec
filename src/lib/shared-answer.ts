/** Shares an answer among all callers: `ask` runs anew only when the last answer is older than `ms`. */
export function sharedAnswer<Answer>(ms: number, ask: () => Promise<Answer>): () => Promise<Answer> {
  let answer: Promise<Answer> | undefined;
  let askedAt = Number.NEGATIVE_INFINITY;
  return () => {
    // Only measures the duration.
    const now = performance.now();
    if (answer === undefined || now - askedAt >= ms) {
      askedAt = now;
      answer = ask();
    }
    return answer;
  };
}
