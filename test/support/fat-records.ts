import pg from "pg";

/** The number of records of each kind. */
export const fatCounts = { links: 100, visitors: 8, events: 24 };

/**
 * Fills a workspace with records of the largest allowed size: visitors with 200 attributes of 4 KB, links with 50
 * metadata entries of 500 characters, forms with 50 long answers. The texts are full of characters that JSON escapes. The
 * database is given by its address or by the settings of a connection.
 */
export async function insertFatRecords(
  database: string | pg.ClientConfig,
  workspaceId: string,
): Promise<void> {
  const client = new pg.Client(typeof database === "string" ? { connectionString: database } : database);
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement, [workspaceId]);
  } finally {
    await client.end();
  }
}

// A version 7 id of the year 2024 that contains the row's number.
const id = (kind: number, number: string) =>
  `('0190f0c0-0000-7000-800${kind}-' || lpad(to_hex(${number}), 12, '0'))::uuid`;
const at = "timestamptz '2024-07-26' + n * interval '1 second'";
const series = (count: number) => `generate_series(1, ${count}) n`;

const { links, visitors, events } = fatCounts;

const statements = [
  `insert into links (workspace_id, id, name, shortlink, qrcode_design_id, metadata, created_at, updated_at)
    select $1::uuid, ${id(1, "n")}, 'Link ' || n, 'fat-' || n, gen_random_uuid(),
      (select jsonb_object_agg('key ' || k, repeat('"ü€\\', 125)) from generate_series(1, 50) k), ${at}, ${at}
    from ${series(links)}`,
  `insert into visitors (workspace_id, id, email, created_at, updated_at)
    select $1::uuid, ${id(2, "n")}, 'visitor-' || n || '@example.com', ${at}, ${at} from ${series(visitors)}`,
  `insert into visitor_attributes (workspace_id, visitor_id, key, type, value, created_at, updated_at)
    select $1::uuid, ${id(2, "n")}, 'attribute ' || k, 'STRING', repeat('long "ü" ', 409), ${at}, ${at}
    from ${series(visitors)}, generate_series(1, 200) k`,
  `insert into devices (workspace_id, id, visitor_id, device_type, device_actor, user_agent, last_used_at, created_at,
      updated_at)
    select $1::uuid, ${id(3, "n")}, ${id(2, `n % ${visitors} + 1`)}, 'MOBILE', 'HUMAN', repeat('Mozilla/5.0 ', 80), ${at},
      ${at}, ${at}
    from ${series(events)}`,
  `insert into visitor_links (workspace_id, visitor_id, link_id, event_count, first_visited_at, last_visited_at)
    select $1::uuid, ${id(2, "n")}, ${id(1, "k")}, 1, ${at}, ${at} from ${series(visitors)}, generate_series(1, ${links}) k`,
  `insert into events (workspace_id, id, link_id, device_id, visitor_id, action, visit_type, counted, entrypoint,
      destination, steps_total, steps_reached, outcome, created_at, updated_at)
    select $1::uuid, ${id(4, "n")}, ${id(1, `n % ${links} + 1`)}, ${id(3, "n")}, ${id(2, `n % ${visitors} + 1`)}, 'SCAN',
      'FIRST', true, 'https://short.test/x', 'https://example.com/', 2, 2, 'COMPLETED', ${at}, ${at}
    from ${series(events)}`,
  `insert into traces (workspace_id, event_id, step_id, id, step_action, data, created_at, completed_at, updated_at)
    select $1::uuid, ${id(4, "n")}, ${id(5, "n")}, ${id(6, "n")}, 'FORM_SUBMIT', jsonb_build_object('form',
      jsonb_build_object('title', 'Tell us', 'fields', (select jsonb_agg(jsonb_build_object('key', 'field ' || k,
        'label', 'Field', 'type', 'TEXT', 'defaultValue', repeat('a "long" answer ', 250))) from generate_series(1, 50) k))),
      ${at}, ${at}, ${at}
    from ${series(events)}`,
];
