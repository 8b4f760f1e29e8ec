import { BlockList, isIPv4 } from "node:net";
import { createAddressList } from "../client-address.ts";

/**
 * Whether requests of customers may go to an address: to `public` ones always, to `private` ones only when the operator
 * allows their network, to `refused` ones never.
 */
export type AddressClass = "public" | "private" | "refused";

/** Networks that are no part of the public Internet, from IANA's registry of special-purpose addresses (RFC 6890). */
const specialIPv4 = [
  ["0.0.0.0", 8], // "this network"; Linux connects to the local machine
  ["10.0.0.0", 8], // private
  ["100.64.0.0", 10], // carriers' NAT
  ["127.0.0.0", 8], // loopback
  ["168.63.129.16", 32], // the host agent of Azure, which answers only to machines inside
  ["169.254.0.0", 16], // link-local, where clouds tell machines their secrets
  ["172.16.0.0", 12], // private
  ["192.0.0.0", 24], // IETF protocols
  ["192.0.2.0", 24], // documentation
  ["192.31.196.0", 24], // AS112
  ["192.52.193.0", 24], // multicast tunnels
  ["192.88.99.0", 24], // relays of 6to4
  ["192.168.0.0", 16], // private
  ["192.175.48.0", 24], // AS112
  ["198.18.0.0", 15], // benchmarks
  ["198.51.100.0", 24], // documentation
  ["203.0.113.0", 24], // documentation
  ["224.0.0.0", 4], // multicast
  ["240.0.0.0", 4], // class E and broadcast
] as const;

/** The only part of IPv6 that is given out; everything outside is special: mapped IPv4, NAT64, ULA, link-local … */
const [globalIPv6, globalIPv6Bits] = ["2000::", 3] as const;

const specialIPv6 = [
  ["2001::", 23], // IETF protocols: Teredo, benchmarks, ORCHID
  ["2001:db8::", 32], // documentation
  ["2002::", 16], // 6to4, which holds an IPv4 address
  ["2620:4f:8000::", 48], // AS112
  ["3ffe::", 16], // the former test network
  ["3fff::", 20], // documentation
] as const;

/**
 * Makes the judge of addresses, given as texts that `net.isIP` takes. The operator allows networks in CIDR form. Throws
 * on an entry that is no network.
 */
export function createAddressJudge(allowedNetworks: readonly string[]): (address: string) => AddressClass {
  const isAllowed = createAddressList(allowedNetworks);
  const special = new BlockList();
  for (const [network, bits] of specialIPv4) special.addSubnet(network, bits, "ipv4");
  for (const [network, bits] of specialIPv6) special.addSubnet(network, bits, "ipv6");
  const global = new BlockList();
  global.addSubnet(globalIPv6, globalIPv6Bits, "ipv6");

  return (address) => {
    const [plain = ""] = address.split("%");
    if (isAllowed(plain)) return "private";
    const isSpecial = isIPv4(plain)
      ? special.check(plain, "ipv4")
      : special.check(plain, "ipv6") || !global.check(plain, "ipv6");
    return isSpecial ? "refused" : "public";
  };
}
