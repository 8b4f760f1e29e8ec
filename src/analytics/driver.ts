import type { Db } from "../db/open.ts";
import type { AnswerOf, Kind, QuestionOf } from "./question.ts";

/**
 * Answers questions about counted visits. All drivers give the same answer to the same question, to the last unit. The
 * database is the caller's share of the pool.
 */
export type Analytics = <K extends Kind>(db: Db, kind: K, question: QuestionOf<K>) => Promise<AnswerOf<K>>;

/** A driver, put together of one function for each kind of question. */
export type Answers = {
  readonly [K in Kind]: (db: Db, question: QuestionOf<K>) => Promise<AnswerOf<K>>;
};

export function createAnalytics(answers: Answers): Analytics {
  return (db, kind, question) => answers[kind](db, question);
}
