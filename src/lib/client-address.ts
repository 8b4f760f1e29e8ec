import { BlockList, isIP, isIPv4, isIPv6 } from "node:net";
import { ownText } from "./own-text.ts";
import { remembered } from "./remembered.ts";

/** The most characters of a host with a port and a final dot. */
export const hostLengthMax = 260;

/** What a request says about its origin; header values are as received, lists joined by commas. */
export interface ConnectionFacts {
  /** The other end of the socket, absent when it is already gone or has no address. */
  readonly peer: string | undefined;
  readonly encrypted: boolean;
  /** `Host`, or `:authority` of HTTP/2. */
  readonly host: string | undefined;
  readonly forwardedFor?: string | undefined;
  readonly forwardedHost?: string | undefined;
  readonly forwardedProto?: string | undefined;
}

/** The client of a request and the host it asked for, after trusted proxies. */
export interface Origin {
  /**
   * An IPv4 or IPv6 address without port or zone; an IPv4 address is never in IPv6 form. `0.0.0.0` when there is none.
   */
  readonly address: string;
  /** The host that the client asked for, as the client wrote it. */
  readonly host: string | undefined;
  readonly scheme: "http" | "https";
}

/** Reads the origin of a request from its connection. */
export type ReadOrigin = (connection: ConnectionFacts) => Origin;

/** How many peers are remembered: reading an address anew takes 1 µs of each request. */
const rememberedMax = 1_000;
const hostForm = /^(?:[a-z0-9._-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::[0-9]{1,5})?$/i;

/**
 * Reads clients behind the given proxies: addresses or networks in CIDR form, IPv4 or IPv6. Only these proxies'
 * `X-Forwarded-*` headers are trusted, and only as far back as the chain of trusted proxies goes: the right-most
 * address that is none of them is the client. Throws on an entry that is neither address nor network.
 */
export function createOriginReader(trustedProxies: readonly string[]): ReadOrigin {
  const isTrusted = createAddressList(trustedProxies);
  const peerOf = remembered(rememberedMax, (text) => {
    const address = plainAddress(text);
    return { address: address ?? "0.0.0.0", isProxy: address !== undefined && isTrusted(address) };
  });

  return (connection) => {
    const { host } = connection;
    const scheme = connection.encrypted ? "https" : "http";
    const peer = peerOf(connection.peer ?? "");
    if (!peer.isProxy) return { address: peer.address, host, scheme };

    let { address } = peer;
    let hops = 0;
    for (const entry of listed(connection.forwardedFor).reverse()) {
      const next = plainAddress(entry);
      if (next === undefined) break;
      address = next;
      hops += 1;
      if (!isTrusted(next)) break;
    }
    if (hops > 0) address = ownText(address);
    const forwardedHost = saidBy(hops, connection.forwardedHost);
    const proto = saidBy(hops, connection.forwardedProto)?.toLowerCase();
    return {
      address,
      host: forwardedHost !== undefined && hostForm.test(forwardedHost) ? ownText(forwardedHost) : host,
      scheme: proto === "https" || proto === "http" ? proto : scheme,
    };
  };
}

/** Makes a test whether an address is in a list of addresses and networks. Throws on an entry that is neither. */
export function createAddressList(entries: readonly string[]): (address: string) => boolean {
  const list = new BlockList();
  for (const entry of entries) addNetwork(list, entry);
  return (address) => list.check(address, isIPv4(address) ? "ipv4" : "ipv6");
}

// Picks the header value of the proxy that the client spoke to. With proxies that append to a list, that value stands
// as far from the right as the client's address does; values further left came from the client. Proxies that replace
// the header leave one value.
function saidBy(hops: number, header: string | undefined): string | undefined {
  const values = listed(header);
  return values.at(-Math.max(hops, 1)) ?? values[0];
}

function listed(header: string | undefined): string[] {
  if (header === undefined) return [];
  return header.split(",").map((entry) => entry.trim());
}

/** An address without brackets, port, zone or IPv6 wrapping; undefined when the text is no address. */
export function plainAddress(text: string): string | undefined {
  const bracketed = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(text);
  const withPort = /^(\d{1,3}(?:\.\d{1,3}){3}):\d{1,5}$/.exec(text);
  const [bare = ""] = (bracketed?.[1] ?? withPort?.[1] ?? text).split("%");
  const mapped = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i.exec(bare)?.[1] ?? mappedFromHex(bare) ?? bare;
  return isIP(mapped) === 0 ? undefined : mapped;
}

function mappedFromHex(address: string): string | undefined {
  const match = /^(?:::|(?:0{1,4}:){5})ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/i.exec(address);
  if (match?.[1] === undefined || match[2] === undefined) return undefined;
  const [high, low] = [Number.parseInt(match[1], 16), Number.parseInt(match[2], 16)];
  return `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}`;
}

function addNetwork(list: BlockList, entry: string): void {
  const [text = "", length, ...rest] = entry.trim().split("/");
  const address = plainAddress(text);
  const wrapped = address !== undefined && isIPv4(address) && text.includes(":");
  const bits = address !== undefined && isIPv4(address) ? 32 : 128;
  const prefix = length === undefined ? bits : Number(length) - (wrapped ? 96 : 0);
  const wellFormed = length === undefined || /^\d{1,3}$/.test(length);
  if (address === undefined || rest.length > 0 || !wellFormed || prefix < 0 || prefix > bits) {
    throw new Error(`"${entry}" is neither an address nor a network such as 10.0.0.0/8`);
  }
  list.addSubnet(address, prefix, bits === 32 ? "ipv4" : "ipv6");
}

/** An IPv4 address, or the /64 network of an IPv6 address: the owner of one address in it has them all. */
export function networkOf(address: string): string {
  return prefixOf(address, 4);
}

/** An IPv4 address, or the /48 of an IPv6 address: anybody can rent one, with its 65,536 networks. */
export function siteOf(address: string): string {
  return prefixOf(address, 3);
}

function prefixOf(address: string, groupsKept: number): string {
  if (!isIPv6(address)) return address;
  const [plain = ""] = address.split("%");
  const [head = "", tail] = plain.split("::");
  const groups = head === "" ? [] : head.split(":");
  if (tail !== undefined) {
    const after = tail === "" ? [] : tail.split(":");
    // An IPv4 address embedded at the end takes the place of two groups.
    const width = after.length + (tail.includes(".") ? 1 : 0);
    while (groups.length < 8 - width) groups.push("0");
    groups.push(...after);
  }
  return `${groups
    .slice(0, groupsKept)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":")}::/${16 * groupsKept}`;
}
