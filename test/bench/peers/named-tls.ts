import { pino } from "pino";
import { openHostCertificates } from "../../../src/certificates/host-certificates.ts";
import { createKeyBox } from "../../../src/certificates/key-box.ts";
import { openDatabase } from "../../../src/db/open.ts";
import { listen } from "../../../src/server/listen.ts";
import { createCertificateMaker } from "../../support/certificate-maker.ts";

// The service's port with a certificate for each of many names, which it looks up in the database.
const { connection, names } = JSON.parse(process.argv[2] ?? "");
const log = pino({ level: "silent" });
const { db } = openDatabase({ connection, poolSize: 4, statementTimeoutMs: 30_000, onError: () => {} });
const keyBox = createKeyBox(Buffer.alloc(32));
const maker = await createCertificateMaker();
const now = () => new Date();
const own: string[] = [];
const dayMs = 86_400_000;
for (let index = 0; index < names; index++) {
  const name = `d${index}.customer.example`;
  const { cert, key } = await maker.sign([name]);
  own.push(name);
  const at = now();
  await db
    .insertInto("certificates")
    .values({
      name,
      // As long as those of an authority that signs with another one.
      chain: [cert, maker.root, maker.root].join("\n"),
      private_key: keyBox.seal(key, name),
      not_before: at,
      not_after: new Date(at.getTime() + 60 * dayMs),
      created_at: at,
      updated_at: at,
    })
    .execute();
}
globalThis.gc?.();
const rssBefore = process.memoryUsage.rss();
const hosts = await openHostCertificates({
  db,
  connection,
  keyBox,
  now,
  ownNames: own,
  ownPair: undefined,
  onTrouble: (error) => process.stderr.write(`${error}\n`),
});
const { port } = await listen({
  host: "127.0.0.1",
  port: 0,
  tls: hosts,
  limits: { connectionsPerAddress: 10_000 },
  handler: (_req, res) => res.end(),
  log,
});
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  process.send?.({
    cpuMs: (user + system) / 1000,
    rssMb: (process.memoryUsage.rss() - rssBefore) / 2 ** 20,
  });
});
process.on("disconnect", () => process.exit());
process.send?.({ port });
