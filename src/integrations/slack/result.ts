/** Why a call of Slack did not succeed. */
export type SlackProblem =
  /** Slack says no, with its own word for it, such as `channel_not_found`. */
  | { readonly kind: "refused"; readonly error: string }
  /** Slack wants no call of this kind for so many seconds. */
  | { readonly kind: "limited"; readonly seconds: number }
  /** There was no answer, or none that can be read. */
  | { readonly kind: "unreachable"; readonly why: string };

export type SlackResult<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problem: SlackProblem };

/** Calls one method of Slack's Web API. */
export type CallSlack = (
  method: string,
  arguments_: Readonly<Record<string, unknown>>,
  token?: string,
) => Promise<SlackResult<Readonly<Record<string, unknown>>>>;
