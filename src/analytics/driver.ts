import type { Db } from "../db/open.ts";
import type { AnswerOf, Kind, QuestionOf } from "./question.ts";

/** An answer, and how far it goes. */
export interface Answered<K extends Kind> {
  readonly answer: AnswerOf<K>;
  /** The answer holds every visit, and every change of one, that was stored by this moment. */
  readonly through: Date;
}

/**
 * Answers questions about counted visits. All drivers give the same answer to the same question, to the last unit. The
 * database is the caller's share of the pool.
 */
export type Analytics = <K extends Kind>(db: Db, kind: K, question: QuestionOf<K>) => Promise<Answered<K>>;

/** A driver, put together of one function for each kind of question. */
export type Answers = {
  readonly [K in Kind]: (db: Db, question: QuestionOf<K>) => Promise<AnswerOf<K>>;
};

/** A driver whose answers go as far as the moment of their question. */
export function createAnalytics(answers: Answers, now: () => Date): Analytics {
  return async (db, kind, question) => {
    const through = now();
    return { answer: await answers[kind](db, question), through };
  };
}
