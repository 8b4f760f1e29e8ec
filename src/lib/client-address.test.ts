import { describe, expect, test } from "vitest";
import { createOriginReader, networkOf, siteOf } from "./client-address.ts";

const read = createOriginReader(["10.0.0.0/8", "192.168.1.7", "fd00::/8", "::ffff:172.16.0.0/108"]);
const connection = { peer: "10.0.0.1", encrypted: false, host: "api.example.com" };

describe("the client's address", () => {
  const cases: [name: string, peer: string | undefined, forwardedFor: string | undefined, address: string][] =
    [
      ["is the peer without proxies", "203.0.113.9", undefined, "203.0.113.9"],
      ["is the peer when a stranger claims another", "203.0.113.9", "198.51.100.1", "203.0.113.9"],
      ["is the peer when a stranger claims a proxy", "203.0.113.9", "10.0.0.5", "203.0.113.9"],
      ["is the one a proxy names", "10.0.0.1", "198.51.100.1", "198.51.100.1"],
      [
        "ignores what the client put before it",
        "10.0.0.1",
        "1.1.1.1, 10.0.0.9, 198.51.100.1",
        "198.51.100.1",
      ],
      [
        "passes over proxies that vouch for each other",
        "10.0.0.1",
        "1.1.1.1, 198.51.100.1, 10.9.9.9",
        "198.51.100.1",
      ],
      ["is the furthest proxy when there are only proxies", "10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"],
      ["stops at what is no address", "10.0.0.1", "198.51.100.1, unknown, 10.0.0.2", "10.0.0.2"],
      ["stops at an empty entry", "10.0.0.1", "198.51.100.1,,10.0.0.2", "10.0.0.2"],
      ["is the proxy itself without the header", "10.0.0.1", undefined, "10.0.0.1"],
      ["is the proxy itself with an empty header", "10.0.0.1", "", "10.0.0.1"],
      ["does not take a hidden name for an address", "10.0.0.1", "_hidden", "10.0.0.1"],
      ["does not take a number for an address", "10.0.0.1", "3232235521", "10.0.0.1"],
      ["does not take octal parts for an address", "10.0.0.1", "0300.0.0.1", "10.0.0.1"],
      ["loses a port", "10.0.0.1", "198.51.100.1:4711", "198.51.100.1"],
      ["loses brackets and port", "10.0.0.1", "[2001:db8::1]:4711", "2001:db8::1"],
      ["loses a zone", "fe80::1%eth0", undefined, "fe80::1"],
      ["is IPv4 when wrapped in IPv6", "::ffff:203.0.113.9", undefined, "203.0.113.9"],
      ["is IPv4 when wrapped in IPv6 in hexadecimal", "::ffff:cb00:7109", undefined, "203.0.113.9"],
      ["knows a proxy that is wrapped in IPv6", "::ffff:10.0.0.1", "198.51.100.1", "198.51.100.1"],
      ["knows a proxy wrapped in hexadecimal", "0:0:0:0:0:ffff:a00:1", "198.51.100.1", "198.51.100.1"],
      ["knows a proxy by its single address", "192.168.1.7", "198.51.100.1", "198.51.100.1"],
      ["does not know the neighbour of a single address", "192.168.1.8", "198.51.100.1", "192.168.1.8"],
      ["knows a proxy by an IPv6 network", "fd12::1", "2001:db8::2", "2001:db8::2"],
      ["does not know a proxy outside the IPv6 network", "fc12::1", "2001:db8::2", "fc12::1"],
      ["knows a proxy by a network in wrapped form", "172.16.3.4", "198.51.100.1", "198.51.100.1"],
      ["does not know the network after it", "172.32.0.1", "198.51.100.1", "172.32.0.1"],
      ["is all zeros when the socket is gone", undefined, "198.51.100.1", "0.0.0.0"],
    ];
  test.each(cases)("%s", (_name, peer, forwardedFor, address) => {
    expect(read({ ...connection, peer, forwardedFor }).address).toBe(address);
  });
});

describe("the host and scheme", () => {
  test("are the connection's own when a stranger claims others", () => {
    const claim = { forwardedHost: "evil.example", forwardedProto: "https", forwardedFor: "10.0.0.1" };
    expect(read({ ...connection, peer: "203.0.113.9", ...claim })).toEqual({
      address: "203.0.113.9",
      host: "api.example.com",
      scheme: "http",
    });
    expect(read({ ...connection, peer: "203.0.113.9", encrypted: true, forwardedProto: "http" }).scheme).toBe(
      "https",
    );
  });

  test("are those that a trusted proxy names", () => {
    const said = {
      forwardedFor: "198.51.100.1",
      forwardedHost: "go.example.com:8443",
      forwardedProto: "HTTPS",
    };
    expect(read({ ...connection, ...said })).toMatchObject({ host: "go.example.com:8443", scheme: "https" });
  });

  test("come from the proxy next to the client, not from what the client sent to that proxy", () => {
    const said = {
      forwardedFor: "1.1.1.1, 198.51.100.1, 10.0.0.2",
      forwardedHost: "evil.example, go.example.com, inner.example.com",
      forwardedProto: "https, http, http",
    };
    expect(read({ ...connection, ...said })).toMatchObject({ host: "go.example.com", scheme: "http" });
  });

  test.each(["a b", "user@evil.example", "evil.example/path", "[::1", "x".repeat(300), ""])(
    "do not take %j for a host",
    (forwardedHost) => {
      expect(read({ ...connection, forwardedHost }).host).toBe("api.example.com");
    },
  );

  test("ignore an unknown scheme", () => {
    expect(read({ ...connection, forwardedProto: "javascript" }).scheme).toBe("http");
  });
});

test.each([
  "10.0.0.0/33",
  "10.0.0.0/",
  "10.0.0/8",
  "fd00::/129",
  "localhost",
  "10.0.0.0/8/8",
  "",
  "::ffff:1.2.3.4/64",
])("refuses %j as a trusted proxy", (entry) => {
  expect(() => createOriginReader([entry])).toThrow("neither an address nor a network");
});

test("an IPv6 client is identified by its /64 network and its /48 site, an IPv4 client by its address", () => {
  const networks = {
    "192.0.2.1": "192.0.2.1",
    "2001:db8:1:2:3:4:5:6": "2001:db8:1:2::/64",
    "2001:0db8:0001:0002::": "2001:db8:1:2::/64",
    "2001:db8::9": "2001:db8:0:0::/64",
    "::1": "0:0:0:0::/64",
    "64:ff9b::192.0.2.1": "64:ff9b:0:0::/64",
    "1:2:3:4::192.0.2.1": "1:2:3:4::/64",
    "fe80::1%eth0": "fe80:0:0:0::/64",
  };
  for (const [address, network] of Object.entries(networks))
    expect(networkOf(address), address).toBe(network);
  expect([siteOf("192.0.2.1"), siteOf("2001:db8:1:2::5")]).toEqual(["192.0.2.1", "2001:db8:1::/48"]);
});
