import { setTimeout as pause } from "node:timers/promises";
import type { RestApi } from "./rest-api.ts";
import { formAction, newVisitor, type Visitor, type VisitorAnswer } from "./visitor.ts";
import { type MadeWorkflow, makeWorkflow } from "./workflows.ts";

/*
 * Visitors answer three pages one after the other, again and again, whatever happens to the service in the meantime. In
 * the end, each answer that was accepted must be stored once.
 */

const pages = ["first", "second", "third"] as const;

/** Makes a link with three forms. The first form asks for the visitor's identity. */
export function makePages(api: RestApi): Promise<MadeWorkflow> {
  const field = (key: string, type: string) => ({ id: key.replace("$", ""), key, label: key, type });
  const form = (page: string, next: string) => ({
    action: "FORM_SUBMIT",
    payload: {
      form: {
        formTitle: page,
        formFields: [
          ...(page === "first" ? [field("$email", "FORM_FIELD_TYPE_EMAIL")] : []),
          field(page, "FORM_FIELD_TYPE_TEXT"),
        ],
      },
    },
    next,
  });
  const steps = {
    first: form("first", "second"),
    second: form("second", "third"),
    third: form("third", "redirect"),
  };
  return makeWorkflow(api, "first", steps);
}

export interface PageLoad {
  /** The pages whose answers were accepted, by the number of the visitor. */
  readonly accepted: ReadonlyMap<number, readonly string[]>;
  /** The numbers of visitors who were sent on at the end. */
  readonly finished: ReadonlySet<number>;
  /** Answers that led to something else than the next page. */
  readonly astray: readonly string[];
  /** Starts no more visits, and waits until every visitor has finished. */
  stop(): Promise<void>;
}

/** Keeps `visitorCount` visitors busy at a time. A visitor who gets no answer, or 503, sends the same request again. */
export function startPages(port: number, { shortlink }: MadeWorkflow, visitorCount: number): PageLoad {
  const accepted = new Map<number, string[]>();
  const finished = new Set<number>();
  const astray: string[] = [];
  let next = 1;
  let isStopped = false;

  async function travel(number: number): Promise<void> {
    const visitor = newVisitor(port, { "accept-language": `en, x-v${number}` });
    const done: string[] = [];
    accepted.set(number, done);
    let path = `/${shortlink}?m=${number}`;
    for (const page of pages) {
      const shown = await untilAnswered(() => visitor.get(path));
      const fields = { "field-email": emailOf(number), [`field-${page}`]: `v${number}` };
      const { status, location } = await untilAnswered(() => visitor.post(formAction(shown), fields));
      if (status !== (page === "third" ? 302 : 303) || location === `/${shortlink}`)
        return void astray.push(`${number} ${page} ${status} ${location}`);
      done.push(page);
      path = location;
    }
    finished.add(number);
  }

  const visitors = Array.from({ length: visitorCount }, async () => {
    while (!isStopped) {
      const number = next++;
      await travel(number).catch((error: unknown) => astray.push(`${number} ${String(error)}`));
    }
  });
  return {
    accepted,
    finished,
    astray,
    async stop() {
      isStopped = true;
      await Promise.all(visitors);
    },
  };
}

function emailOf(number: number): string {
  return `v${number}@example.com`;
}

async function untilAnswered(ask: () => ReturnType<Visitor["get"]>): Promise<VisitorAnswer> {
  for (;;) {
    const answer = await ask().catch(() => undefined);
    if (answer !== undefined && answer.status !== 503) return answer;
    await pause(20);
  }
}

interface ListedVisitor {
  readonly email: string;
  readonly attributes: readonly { readonly key: string; readonly value: string }[];
}

interface ListedEvent {
  readonly destination: string;
  readonly traces: readonly { readonly stepAction: string; readonly completedAt?: string }[];
}

/** Says in words which answers went astray, and which accepted ones are not stored once. Empty when all is well. */
export async function whatIsWrong(api: RestApi, load: PageLoad): Promise<string[]> {
  const wrong = [...load.astray];
  const profiles = Map.groupBy(await all<ListedVisitor>(api, "visitors", ""), ({ email }) => email);
  for (const [number, done] of load.accepted) {
    if (done.length === 0) continue;
    const [profile, ...others] = profiles.get(emailOf(number)) ?? [];
    const values = new Map(profile?.attributes.map(({ key, value }) => [key, value]));
    if (others.length > 0) wrong.push(`visitor ${number} is there more than once`);
    for (const page of done)
      if (values.get(page) !== `v${number}`) wrong.push(`visitor ${number} lacks the answer to ${page}`);
  }
  const events = await all<ListedEvent>(api, "events", "&include=traces");
  const ends = Map.groupBy(events, ({ destination }) => destination);
  for (const number of load.finished) {
    const [event, ...others] = ends.get(`https://example.com/?m=${number}`) ?? [];
    const traces = event?.traces.filter(({ completedAt }) => completedAt !== undefined) ?? [];
    if (others.length > 0) wrong.push(`the visit of ${number} ended more than once`);
    // The entry, three forms, and the redirect.
    if (traces.length !== 5) wrong.push(`the visit of ${number} has ${traces.length} completed steps`);
  }
  return wrong;
}

async function all<Item>(api: RestApi, name: "visitors" | "events", query: string): Promise<Item[]> {
  const items: Item[] = [];
  for (let pageToken = ""; ; ) {
    const path = `/v1/${name}?pageSize=200&pageToken=${encodeURIComponent(pageToken)}${query}`;
    const { json } = await api.call<{ json: Record<string, unknown> }>("GET", path);
    // The list's own name, as the contract has it.
    items.push(...((json[name] ?? []) as Item[]));
    pageToken = String(json.nextPageToken ?? "");
    if (pageToken === "") return items;
  }
}
