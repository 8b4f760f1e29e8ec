import type { HostCertificates } from "../certificates/host-certificates.ts";
import { faultlessly } from "../server/faultless.ts";
import type { PortListener } from "../server/listen.ts";
import { plainHandler } from "../server/names/plain-handler.ts";
import type { openPort } from "./port.ts";
import type { Parts } from "./roles/parts.ts";

/** The certificates of a port, and the port in cleartext beside it. */
export interface OpenCertificates {
  readonly hosts: HostCertificates | undefined;
  readonly plainPort: PortListener | undefined;
}

/** Opens both where they are configured. Nothing is loaded for a service that asks no authority. */
export async function openCertificates(
  parts: Parts,
  port: Awaited<ReturnType<typeof openPort>>,
): Promise<OpenCertificates | undefined> {
  const { config, addresses, log } = parts;
  if (config.acme === undefined && config.httpPort === undefined) return undefined;
  const { openHosts, ownAddresses } = await import("./roles/certificates.ts");
  const hosts = config.acme && (await openHosts(parts, port.pair));
  if (config.httpPort === undefined) return { hosts, plainPort: undefined };
  const handler = plainHandler({
    ownAddresses: ownAddresses(addresses).filter((address) => address.startsWith("https://")),
    findAuthorization: async (...wanted) => hosts?.findAuthorization(...wanted),
    isServed: async (name, address) => (await hosts?.find(name, address)) !== undefined,
  });
  return { hosts, plainPort: await port.openPlain(config.httpPort, faultlessly(log)(handler)) };
}
