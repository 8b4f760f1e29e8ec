import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import type { Logger } from "pino";
import {
  type Account,
  canRead,
  exists,
  packagedServer,
  runnableServer,
  serverAccount,
  serverCaches,
} from "./embedded-binaries.ts";

const run = promisify(execFile);

/** How `pg` connects to the embedded server, and how to stop it. */
export interface EmbeddedDatabase {
  /** The folder of the unix socket. */
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
  /** Ends all sessions and stops the server after a checkpoint; a server that another process started keeps running. */
  stop(): Promise<void>;
}

export interface EmbeddedOptions {
  readonly dataDir: string;
  readonly log: Logger;
  /** Called whenever the server's process has started; from then on this process only waits. */
  readonly onLaunched?: (() => void) | undefined;
}

interface Cluster {
  /** PostgreSQL's data folder, which also holds the socket. */
  readonly folder: string;
  /** The same folder, as the server's account reaches it. */
  readonly name: string;
  readonly binaries: string;
  readonly account: Account | undefined;
  readonly log: Logger;
  readonly onLaunched: (() => void) | undefined;
  /** Aborts when the server is asked to stop. */
  readonly stopping: AbortSignal;
}

interface Postmaster {
  readonly child: ChildProcess;
  readonly exited: Promise<unknown>;
}

const port = 5432;
const user = "signpost";
const environment = { PATH: "/usr/bin:/bin", LC_ALL: "C" };

// Settings for a machine of one or two cores and a gigabyte. Durability keeps PostgreSQL's defaults: fsync, full pages
// and synchronous commit are on. The log omits errors of statements, because their details contain customers' data.
const settings: Readonly<Record<string, string>> = {
  listen_addresses: "",
  unix_socket_directories: ".",
  unix_socket_permissions: "0700",
  max_connections: "100",
  shared_buffers: "128MB",
  effective_cache_size: "512MB",
  maintenance_work_mem: "64MB",
  max_wal_size: "2GB",
  min_wal_size: "80MB",
  checkpoint_timeout: "15min",
  max_wal_senders: "0",
  wal_level: "minimal",
  random_page_cost: "1.1",
  jit: "off",
  timezone: "UTC",
  log_timezone: "UTC",
  log_checkpoints: "off",
  log_line_prefix: "",
  log_min_messages: "log",
};

// The shell outlives a killed service: its input then ends, and it asks the server for a fast stop. It asks again each
// second, because the server loses a signal that comes before its handlers are set.
const guard = `
exec 3<&0
"$@" </dev/null 3<&- &
server=$!
(
  while read -r _; do :; done
  while kill -INT "$server"; do sleep 1; done
) <&3 >/dev/null 2>&1 &
watcher=$!
exec 3<&-
wait "$server"
status=$?
kill "$watcher" 2>/dev/null
exit "$status"
`;

/**
 * Starts the packaged PostgreSQL on `<dataDir>/postgres`, made on first use, on a unix socket only. The server restarts
 * when it dies and stops when this process dies. A server that another process already runs is shared.
 */
export async function startEmbedded({
  dataDir,
  log,
  onLaunched,
}: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const folder = resolve(dataDir, "postgres");
  await mkdir(resolve(dataDir), { recursive: true });
  const account = await serverAccount();
  const binaries = await runnableServer(packagedServer(), account, serverCaches(account, resolve(dataDir)));
  if (!(await exists(folder))) await initialise(folder, { binaries, account });
  await admitOurselves(folder, account);
  const stopping = new AbortController();
  const name = await nameFor(folder, account);
  const cluster = { folder, name, binaries, account, log, onLaunched, stopping: stopping.signal };
  const stop = await supervise(cluster);
  const { host, release } = await shortPath(folder);
  return {
    host,
    port,
    user,
    database: "postgres",
    stop: async () => {
      stopping.abort();
      await stop();
      await release();
    },
  };
}

// The cluster is made beside its place and moved there when complete, so that an interrupted start leaves nothing
// half-made.
async function initialise(folder: string, server: Pick<Cluster, "binaries" | "account">): Promise<void> {
  const { account, binaries } = server;
  const unfinished = `${folder}.new`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { mode: 0o700 });
  if (account !== undefined) await chown(unfinished, account.uid, account.gid);
  const name = await nameFor(unfinished, account);
  const locale = ["--encoding=UTF8", "--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"];
  const access = [`--username=${user}`, "--auth-local=trust", "--auth-host=reject", "--no-instructions"];
  const options = { ...account, cwd: unfinished, env: environment };
  await run(join(binaries, "bin/initdb"), ["-D", name, ...locale, ...access], options);
  await rename(unfinished, folder);
}

// Admits only our own user to the socket. The server's account owns the socket's folder; if that is not our account,
// the system tells PostgreSQL who connects. Written at each start, because the service may run as another user than
// before.
async function admitOurselves(folder: string, account: Account | undefined): Promise<void> {
  const isShared = account !== undefined;
  const files = {
    "pg_hba.conf": `local all ${user} ${isShared ? "peer map=service" : "trust"}\n`,
    "pg_ident.conf": isShared ? `service "${userInfo().username}" ${user}\n` : "",
  };
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(folder, name), text, { mode: 0o600 });
    if (isShared) await chown(join(folder, name), account.uid, account.gid);
  }
}

// The account may be unable to reach the folder by its path, for example inside a home of mode 0700. Linux lets a
// process name its working directory without access to the folders above it.
async function nameFor(folder: string, account: Account | undefined): Promise<string> {
  if (account === undefined || (await canRead([folder], account))) return folder;
  if (process.platform === "linux") return "/proc/self/cwd";
  throw new Error(`user ${account.uid} cannot reach ${folder}: choose another DATA_DIR, or set DATABASE_URL`);
}

async function supervise(cluster: Cluster): Promise<() => Promise<void>> {
  let postmaster = await start(cluster);
  if (postmaster === undefined) return async () => {};
  async function keepRunning(): Promise<void> {
    while (postmaster !== undefined) {
      await postmaster.exited;
      if (cluster.stopping.aborted) return;
      cluster.log.error("the embedded PostgreSQL died; starting it again");
      postmaster = await start(cluster).catch(async (error: unknown) => {
        cluster.log.error({ err: error }, "the embedded PostgreSQL did not start");
        await pause(1000);
        return postmaster;
      });
    }
  }
  const ended = keepRunning();
  return async () => {
    postmaster?.child.stdin?.end();
    await ended;
  };
}

// Starts the server; returns no postmaster when another process runs one here. A server that is stopping, or whose last
// processes still end after a kill, holds its lock for a moment: 15 seconds are given for that.
async function start(cluster: Cluster): Promise<Postmaster | undefined> {
  for (let attempt = 0; ; attempt += 1) {
    if (await runsElsewhere(cluster)) return undefined;
    await removeStaleLock(cluster);
    const result = await launch(cluster);
    if (typeof result !== "string") return result;
    if (!/lock file|pre-existing shared memory/.test(result) || attempt === 300) {
      throw new Error(`the embedded PostgreSQL in ${cluster.folder} did not start: ${result}`);
    }
    await pause(50);
  }
}

/** Launches the server. Returns its postmaster, or its output if it ended. */
async function launch(cluster: Cluster): Promise<Postmaster | string> {
  const options = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const command = [join(cluster.binaries, "bin/postgres"), "-D", cluster.name, ...options];
  // A session of its own keeps the terminal's Ctrl-C from the server: the service stops it, last.
  const child = spawn("/bin/sh", ["-c", guard, "sh", ...command], {
    ...cluster.account,
    cwd: cluster.folder,
    env: environment,
    detached: true,
    stdio: ["pipe", "ignore", "pipe"],
  });
  cluster.onLaunched?.();
  const exited = new Promise((settle) => child.once("exit", settle).once("error", settle));
  child.stdin.on("error", () => {});
  const said: string[] = [];
  const ready = new Promise<true>((settle) => {
    createInterface({ input: child.stderr }).on("line", (line) => {
      if (line.includes("database system is ready to accept connections")) settle(true);
      if (said.length < 20) said.push(line);
      report(cluster, line);
    });
  });
  const first = await Promise.race([ready, exited, once(child.stderr, "close").then(() => exited)]);
  return first === true ? { child, exited } : said.join("\n") || String(first);
}

function report({ log, stopping }: Cluster, line: string): void {
  // A server that stops writes such a line for every open session; it is not worth logging.
  const isFarewell = stopping.aborted && line.startsWith("FATAL:") && line.includes("administrator command");
  if (line.startsWith("PANIC:")) log.error({ postgres: line }, "embedded PostgreSQL");
  else if (/^(FATAL|WARNING):/.test(line) && !isFarewell) log.warn({ postgres: line }, "embedded PostgreSQL");
  else log.debug({ postgres: line }, "embedded PostgreSQL");
}

interface Lock {
  readonly pid: number;
  readonly status: string;
}

// The first line of postmaster.pid is the process id, the eighth its state.
async function readLock({ folder }: Cluster): Promise<Lock | undefined> {
  const text = await readFile(join(folder, "postmaster.pid"), "utf8").catch(() => undefined);
  if (text === undefined) return undefined;
  const lines = text.split("\n");
  return { pid: Number(lines[0]), status: lines[7]?.trim() ?? "starting" };
}

// Asks twice, because a server whose service was just killed still says "ready" until its guard stops it.
async function runsElsewhere(cluster: Cluster): Promise<boolean> {
  for (const wait of [250, 0]) {
    const lock = await readLock(cluster);
    if (lock?.status !== "ready" || !(await accepts(cluster.folder))) return false;
    await pause(wait);
  }
  cluster.log.info("using the PostgreSQL that another process runs in DATA_DIR");
  return true;
}

async function accepts(folder: string): Promise<boolean> {
  const { host, release } = await shortPath(folder);
  const socket = connect(join(host, `.s.PGSQL.${port}`));
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
    await release();
  }
}

// Removes a dead server's lock. PostgreSQL itself does so only if no process has the dead one's number; after a restart
// of a container another process often has it.
async function removeStaleLock(cluster: Cluster): Promise<void> {
  const lock = await readLock(cluster);
  if (lock === undefined) return;
  const command = await readFile(`/proc/${lock.pid}/comm`, "utf8").catch(() => undefined);
  if (command === undefined || command.trim() === "postgres") return;
  await rm(join(cluster.folder, "postmaster.pid"), { force: true });
}

// A socket's address has at most 104 bytes; a longer path is reached through a link in a folder of our own.
async function shortPath(folder: string): Promise<{ host: string; release: () => Promise<void> }> {
  if (Buffer.byteLength(folder) <= 80) return { host: folder, release: async () => {} };
  const shortcut = await mkdtemp(join(tmpdir(), "signpost-"));
  await symlink(folder, join(shortcut, "db"));
  return { host: join(shortcut, "db"), release: () => rm(shortcut, { recursive: true, force: true }) };
}
