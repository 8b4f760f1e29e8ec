import { DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from "kysely";
import type { DB } from "../../../gen/database.ts";
import { insertLinks, type NewLink } from "../../../src/api/links/create-writes.ts";
import { findLink } from "../../../src/api/links/queries.ts";

import type { Db } from "../../../src/db/open.ts";
import { jobCalls } from "../../../src/jobs/queue.ts";
import { defaultDesignOptions } from "../../../src/model/look/design-options.ts";

/** A statement and its parameters, in the form that `pg` takes. */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** The statement with which the service reads a link. */
export function readStatement(workspaceId: string, id: string): Promise<Statement> {
  return statementOf((db) => findLink(db, workspaceId, id, new Set()));
}

/** The values that differ between two otherwise equal new links. */
export type LinkIds = Pick<NewLink, "id" | "shortlink" | "entryStepId" | "at"> & {
  readonly redirectStepId: string;
  readonly designId: string;
};

/** The statement with which the service makes a plain link. */
export function createStatement(workspaceId: string, destination: string, ids: LinkIds): Promise<Statement> {
  const { designId, redirectStepId, ...own } = ids;
  const link: NewLink = {
    ...own,
    workspaceId,
    host: "",
    name: "example.com/menu",
    customDomainId: null,
    directoryId: null,
    fallbackDestination: "",
    expiresAt: null,
    expiredDestination: "",
    purpose: "",
    metadata: {},
    design: { id: designId, options: defaultDesignOptions },
    qrcodeTemplateId: null,
    exit: {
      stepId: redirectStepId,
      action: "CLIENT_REDIRECT",
      payload: { destination, conversionTracking: false },
    },
    tags: [],
  };
  return statementOf((db) =>
    insertLinks(db, {
      workspaceId,
      at: ids.at,
      releasedBefore: new Date(0),
      links: [link],
      screenedHosts: ["example.com"],
      jobCalls,
      drawingPriority: 0,
      charge: undefined,
    }),
  );
}

/** Records the statement of one of the service's queries, so that a peer always does the same work in the database. */
async function statementOf(query: (db: Db) => Promise<unknown>): Promise<Statement> {
  const statements: Statement[] = [];
  const db = new Kysely<DB>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (instance) => new PostgresIntrospector(instance),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    log: ({ query: { sql, parameters } }) => {
      statements.push({ text: sql, values: parameters });
    },
  });
  // The driver returns no rows, which a query may treat as a fault.
  await query(db).catch(() => {});
  const [statement] = statements;
  if (statement === undefined || statements.length > 1) throw new Error("not one statement");
  return statement;
}
