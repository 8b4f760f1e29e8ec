import pg from "pg";

/**
 * Notified in the transaction that changes what plans hold: `<host>/<shortlink>` for one link, `<host>/` for the root of
 * a custom domain (the service's own short host is empty), and a workspace's id for all its links.
 */
export const planChannel = "signpost_plan";

/** A connection that hears of changes, for as long as it lives. */
export interface PlanChanges {
  /** False while the connection is broken and changes go unheard. */
  hears(): boolean;
  close(): Promise<void>;
}

export interface PlanChangesDeps {
  readonly connection: pg.ClientConfig;
  readonly onChange: (payload: string) => void;
  /** A new connection is there: whatever happened before it is unknown. */
  readonly onConnect: () => void;
  /** Told once per loss of the connection. */
  readonly onLoss: (error: unknown) => void;
  /** Milliseconds between attempts to connect. */
  readonly retryMs?: number;
}

/** Listens for changes of plans, and connects again whenever the connection is lost; resolves after the first attempt. */
export async function listenForPlanChanges(deps: PlanChangesDeps): Promise<PlanChanges> {
  const { connection, onChange, onConnect, onLoss, retryMs = 250 } = deps;
  let client: pg.Client | undefined;
  let retry: NodeJS.Timeout | undefined;
  let isLost = false;
  let isClosed = false;

  function lose(broken: pg.Client, error: unknown): void {
    if (isClosed || client !== broken) return;
    client = undefined;
    if (!isLost) onLoss(error);
    isLost = true;
    void broken.end().catch(() => {});
    retry = setTimeout(() => void connect(), retryMs);
  }

  async function connect(): Promise<void> {
    const fresh = new pg.Client({
      ...connection,
      application_name: "signpost plans",
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
    });
    client = fresh;
    fresh.on("error", (error) => lose(fresh, error));
    fresh.on("end", () => lose(fresh, new Error("the connection ended")));
    fresh.on("notification", ({ payload = "" }) => {
      onChange(payload);
    });
    try {
      await fresh.connect();
      await fresh.query(`listen ${planChannel}`);
    } catch (error) {
      lose(fresh, error);
      return;
    }
    if (client !== fresh) return;
    isLost = false;
    hearing = fresh;
    onConnect();
  }

  let hearing: pg.Client | undefined;
  await connect();
  return {
    hears: () => hearing !== undefined && hearing === client,
    async close() {
      isClosed = true;
      clearTimeout(retry);
      await client?.end().catch(() => {});
    },
  };
}
