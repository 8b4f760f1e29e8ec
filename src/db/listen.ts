import pg from "pg";

/** A connection that receives the notifications of channels while it lives. */
export interface ChannelListener {
  /** False while the connection is broken and receives nothing. */
  hears(): boolean;
  close(): Promise<void>;
}

export interface ListenDeps {
  readonly connection: pg.ClientConfig;
  /** The connection's name in the database. */
  readonly name: string;
  readonly channels: readonly string[];
  readonly onNotice: (channel: string, payload: string) => void;
  /** Called for each new connection: notifications before it may have been missed. */
  readonly onConnect: () => void;
  /** Called once per loss of the connection. */
  readonly onLoss: (error: unknown) => void;
}

/** The pause before the first reconnection, in milliseconds; it doubles with each further attempt. */
const retryMsFirst = 250;
const retryMsMax = 1_000;

/** How long connecting and LISTEN may take, in milliseconds. */
const timeoutMs = 5_000;

/** Listens on a connection of its own, and reconnects when it is lost. Resolves after the first attempt. */
export async function listenOn(deps: ListenDeps): Promise<ChannelListener> {
  const { connection, name, channels, onNotice, onConnect, onLoss } = deps;
  let client: pg.Client | undefined;
  let hearing: pg.Client | undefined;
  let retry: NodeJS.Timeout | undefined;
  let retryMs = retryMsFirst;
  let isLost = false;
  let isClosed = false;

  function lose(broken: pg.Client, error: unknown): void {
    if (isClosed || client !== broken) return;
    client = undefined;
    if (!isLost) onLoss(error);
    isLost = true;
    void broken.end().catch(() => {});
    retry = setTimeout(() => void connect(), retryMs);
    retryMs = Math.min(2 * retryMs, retryMsMax);
  }

  async function connect(): Promise<void> {
    const fresh = new pg.Client({
      ...connection,
      application_name: name,
      keepAlive: true,
      connectionTimeoutMillis: timeoutMs,
      query_timeout: timeoutMs,
    });
    client = fresh;
    fresh.on("error", (error) => lose(fresh, error));
    fresh.on("end", () => lose(fresh, new Error("the connection ended")));
    fresh.on("notification", ({ channel, payload = "" }) => onNotice(channel, payload));
    try {
      await fresh.connect();
      await fresh.query(channels.map((channel) => `listen ${channel}`).join(";"));
    } catch (error) {
      lose(fresh, error);
      return;
    }
    if (client !== fresh) return;
    isLost = false;
    retryMs = retryMsFirst;
    hearing = fresh;
    onConnect();
  }

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
