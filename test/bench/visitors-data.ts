import type pg from "pg";

/*
 * Visitors as workspaces have them, made by the database alone and the same each time: each has up to eight attributes,
 * one of many names, and visits as Zipf has them. `number` is 1 for the first visitor.
 */

/** Hashes the number of a visitor with a word, to a number below `below`. */
const pick = (word: string, below: number) => `(abs(hashtext(number || '${word}')) % ${below})`;

const firstNames = "{Ada,Bob,Cleo,Dora,Emil,Finn,Gül,Hana,Ida,Jan,Kim,Lena,Mara,Nils,Ömer,Pia}";
const lastNames = "{Lovelace,Müller,Garcia,Sato,Okafor,Kowalski,Rossi,Novak,Silva,Haddad,Jensen,Singh}";

/** The attributes, by key, with their type, and an expression for the value of a visitor. */
const attributes: Readonly<Record<string, readonly [type: string, value: string]>> = {
  plan: ["STRING", `('{free,starter,pro,enterprise}'::text[])[1 + ${pick("plan", 4)}]`],
  seats: ["NUMBER", `${pick("seats", 500)}::text`],
  city: ["STRING", `'City ' || ${pick("city", 400)}`],
  joined: ["DATE", `(date '2024-01-01' + ${pick("joined", 1_000)})::text`],
  active: ["BOOLEAN", `(${pick("active", 3)} > 0)::text`],
  company: ["STRING", `'Company ' || ${pick("company", 20_000)} || ' Ltd'`],
  reference: ["STRING", `md5(number || 'reference')`],
  score: ["NUMBER", `(${pick("score", 10_000)} / 100.0)::text`],
};

/** The keys of the attributes, from the commonest to the rarest: three of four visitors have the next one, too. */
export const attributeKeys = Object.keys(attributes);

/** Adds visitors to a workspace, each with visits of some of the links. */
export async function addVisitors(
  database: pg.Client,
  { workspaceId, linkIds, count }: { workspaceId: string; linkIds: readonly string[]; count: number },
): Promise<void> {
  const numbers = `generate_series(1, ${count}) as number`;
  const id = `('${workspaceId.slice(0, 8)}-0000-7000-8000-' || lpad(to_hex(number), 12, '0'))::uuid`;
  const columns = `'${workspaceId}'::uuid, ${id}`;
  const at = `timestamptz '2026-01-01' + number * interval '10 seconds'`;
  const name = (names: string, word: string) =>
    `('${names}'::text[])[1 + ${pick(word, names.split(",").length)}]`;
  // One of three is anonymous.
  const isKnown = "number % 3 > 0";
  await database.query(`insert into visitors (workspace_id, id, email, first_name, last_name, created_at, updated_at)
    select ${columns}, case when ${isKnown} then 'person' || number || '@example' || ${pick("host", 50)} || '.com' end,
      case when ${isKnown} then ${name(firstNames, "first")} end, case when ${isKnown} then ${name(lastNames, "last")} end,
      ${at}, ${at} from ${numbers}`);
  for (const [place, [key, [type, value]]] of Object.entries(attributes).entries())
    await database.query(`insert into visitor_attributes (workspace_id, visitor_id, key, type, value, created_at, updated_at)
      select ${columns}, '${key}', '${type}', ${value}, ${at}, ${at} from ${numbers}
      where power(0.75, ${place}) * 1000 > ${pick("has", 1_000)}`);
  // The visitor of rank r has about count / r visits.
  const links = `'{${linkIds.join()}}'::uuid[]`;
  for (const turn of [0, 1])
    await database.query(`insert into visitor_links (workspace_id, visitor_id, link_id, event_count, first_visited_at, last_visited_at)
      select ${columns}, (${links})[1 + (number + ${turn}) % ${linkIds.length}],
        1 + ${count} / (1 + ${pick("rank", count)}), ${at}, ${at}
      from ${numbers} where ${turn} = 0 or number % 4 = 0`);
  await database.query("analyze visitors, visitor_attributes, visitor_links");
}
