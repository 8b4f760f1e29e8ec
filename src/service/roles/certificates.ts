import { isIP } from "node:net";
import type { Authority } from "../../certificates/acme/authority.ts";
import { createKeyBox } from "../../certificates/key-box.ts";
import { createOrdering } from "../../certificates/order-due.ts";
import type { KeyPair } from "../../certificates/ready-contexts.ts";
import { wantCertificate } from "../../certificates/want-certificate.ts";
import type { Db } from "../../db/open.ts";
import { type CertificateDesk, noCertificates } from "../../domains/certificates.ts";
import { settleDomain } from "../../domains/settle.ts";
import { enqueue } from "../../jobs/queue.ts";
import { isLoopback } from "../../lib/hosts.ts";
import type { Config } from "../config.ts";
import type { Addresses, Parts } from "./parts.ts";

/** The addresses of the service's own hosts. The API's stands first. */
export function ownAddresses({ baseUrl, shortUrl, authUrl, mcpUrl }: Addresses): readonly string[] {
  return [baseUrl, shortUrl, authUrl, mcpUrl];
}

/** The names of the service's own hosts that clients reach over TLS. The API's stands first. */
export function ownNames(addresses: Addresses): string[] {
  const urls = ownAddresses(addresses).map((address) => new URL(address));
  const names = urls.flatMap(({ protocol, hostname }) => (protocol === "https:" ? [hostname] : []));
  return [...new Set(names)].filter((name) => !isLoopback(name) && !name.startsWith("[") && isIP(name) === 0);
}

/** How custom domains get their certificates. */
export function openCertificateDesk({ config, now }: Pick<Parts, "config" | "now">): CertificateDesk {
  const { acme } = config;
  if (acme === undefined) return noCertificates;
  let authorities: readonly Authority[] | undefined;
  return {
    needed: true,
    async order(tx, { name }) {
      await wantCertificate(tx, name, now());
      await orderSoon(tx);
    },
    async caaIdentities() {
      const { createAuthority } = await import("../../certificates/acme/authority.ts");
      authorities ??= acme.directories.map((directory) => createAuthority(directory, now));
      const read = await Promise.allSettled(authorities.map((authority) => authority.directory()));
      return read.flatMap((found) => (found.status === "fulfilled" ? found.value.caaIdentities : []));
    },
  };
}

/** Queues the job that orders certificates, unless it waits already. */
export function orderSoon(tx: Db): Promise<void> {
  return enqueue(tx, "order-certificates", {}, { key: "order-certificates" });
}

/** Opens the certificates of all names, for the port. */
export async function openHosts(parts: Parts, ownPair: KeyPair | undefined) {
  const { openHostCertificates } = await import("../../certificates/host-certificates.ts");
  return openHostCertificates({
    db: parts.scanDb,
    connection: parts.connection,
    keyBox: createKeyBox(parts.keyFor("certificates")),
    now: parts.now,
    ownNames: ownNames(parts.addresses),
    ownPair,
    onTrouble: (error) =>
      parts.log.warn({ err: error }, "certificates cannot be looked up; those in memory are served"),
  });
}

/** The job that orders certificates; it does nothing when no authority is asked. */
export function openOrdering(parts: Parts): (signal: AbortSignal) => Promise<void> {
  const { config, addresses, now, jobsDb: db, log } = parts;
  if (config.acme === undefined) return async () => {};
  const certificates = openCertificateDesk(parts);
  return createOrdering({
    db,
    now,
    keyBox: createKeyBox(parts.keyFor("certificates")),
    config: config.acme,
    // With a certificate of the operator the service's own hosts need no other.
    ownNames: config.tls === undefined ? ownNames(addresses) : [],
    kinds: kindsOf(config),
    settle: (tx, holder, learned) => settleDomain(tx, { certificates, now }, holder, learned),
    log,
  });
}

function kindsOf({ httpPort }: Config): Parameters<typeof createOrdering>[0]["kinds"] {
  return httpPort === undefined ? ["tls-alpn-01"] : ["http-01", "tls-alpn-01"];
}
