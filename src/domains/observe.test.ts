import { afterEach, describe, expect, test } from "vitest";
import { startNameServer } from "../../test/support/name-server.ts";
import { judge } from "./judge.ts";
import { createObserver } from "./observe.ts";

const name = "links.example.com";
const target = "domains.go.example.net";
const token = "a-token-that-nobody-guesses";
const proof = `_svc-verify.${name}`;

const one = await startNameServer();
const other = await startNameServer();
afterEach(() => {
  one.zone.clear();
  other.zone.clear();
});

// A busy machine answers late.
const timeoutMs = 30_000;
const alone = createObserver({ servers: [one.server], target, timeoutMs });
const both = createObserver({ servers: [one.server, other.server], target, timeoutMs });

const expected = { name, target, token, needsProof: true, caaIdentities: ["letsencrypt.org"] };

async function judged(observer = alone) {
  return judge(await observer.look(name), expected);
}

const own = { A: ["192.0.2.1"], AAAA: ["2001:db8::1"] };

describe("a name leads here", () => {
  test.each([
    ["by a CNAME record", { CNAME: [target] }],
    ["by the same addresses, as a flattened record of an apex has them", own],
    ["by one of the addresses", { A: ["192.0.2.1"] }],
    ["by a chain of CNAME records that ends here", { CNAME: ["cdn.example.org"], ...own }],
  ])("%s", async (_how, records) => {
    one.zone.set(target, own).set(name, records);
    one.zone.set(proof, { TXT: ["something else", token] });
    expect(await judged()).toEqual({ pointsHere: true, isOwned: true, fault: "" });
  });
});

describe("the fault names the record that was found, and the one that was expected", () => {
  const wanted = `Expected: a CNAME record to ${target}, or at the apex of a zone an ALIAS record to it, or addresses 192.0.2.1, 2001:0db8:0000:0000:0000:0000:0000:0001.`;
  const proved = { TXT: [token] };
  test.each([
    [{ CNAME: ["old.example.org"] }, `${name} has a CNAME record to old.example.org.`],
    [{ A: ["198.51.100.7"] }, `${name} leads to 198.51.100.7.`],
    [{ A: ["192.0.2.1", "198.51.100.7"] }, `${name} also leads to 198.51.100.7.`],
    [{ TXT: ["x"] }, `${name} has no address and no CNAME record.`],
  ])("%j", async (records, found) => {
    one.zone.set(target, own).set(name, records).set(proof, proved);
    const { pointsHere, isOwned, fault } = await judged();
    expect({ pointsHere, isOwned }).toEqual({ pointsHere: false, isOwned: true });
    expect(fault.replace("2001:db8::1", "2001:0db8:0000:0000:0000:0000:0000:0001")).toBe(
      `${found} ${wanted}`,
    );
  });

  test("of the proof", async () => {
    one.zone.set(name, { CNAME: [target] });
    expect((await judged()).fault).toBe(`${proof} has no TXT record. Expected: a TXT record ${token}.`);
    one.zone.set(proof, { TXT: ["line\nbreak"] });
    expect((await judged()).fault).toBe(
      `${proof} has the TXT record line?break. Expected: a TXT record ${token}.`,
    );
  });

  test("of the authority, by the nearest CAA records", async () => {
    one.zone.set(name, { CNAME: [target] }).set(proof, proved);
    one.zone.set("example.com", { CAA: ["issue ca.example"] });
    expect((await judged()).fault).toBe(
      'The CAA record 0 issue "ca.example" of example.com forbids certificates of letsencrypt.org. Expected: also a CAA record 0 issue "letsencrypt.org".',
    );
    one.zone.set(name, { CNAME: [target], CAA: ["issue letsencrypt.org;validationmethods=http-01"] });
    expect((await judged()).fault).toBe("");
  });
});

describe("of two name servers", () => {
  const right = { CNAME: [target] };
  test("that agree, both are believed", async () => {
    for (const { zone } of [one, other]) zone.set(name, right).set(proof, { TXT: [token] });
    expect(await judged(both)).toEqual({ pointsHere: true, isOwned: true, fault: "" });
  });

  test("that contradict each other, none is believed, and the fault says who saw what", async () => {
    one.zone.set(name, right).set(proof, { TXT: [token] });
    other.zone.set(name, { CNAME: ["old.example.org"] });
    const { pointsHere, isOwned, fault } = await judged(both);
    expect({ pointsHere, isOwned }).toEqual({ pointsHere: undefined, isOwned: undefined });
    expect(fault).toContain(`That is what ${other.server} says; ${one.server} sees the right record already`);
  });

  test("one that has failed is no witness", async () => {
    for (const each of [name, proof, target]) other.zone.set(each, "failed");
    one.zone.set(name, right).set(proof, { TXT: [token] });
    expect(await judged(both)).toEqual({ pointsHere: true, isOwned: true, fault: "" });
  });
});

describe("name servers that are no help say nothing, and cost little", () => {
  const hasty = createObserver({ servers: [one.server], target, timeoutMs: 100 });

  test.each(["failed", "forged", "garbage", "silent"] as const)("%s answers", async (trouble) => {
    for (const each of [name, proof, target, "example.com"]) one.zone.set(each, trouble);
    const { pointsHere, isOwned } = await judged(hasty);
    expect({ pointsHere, isOwned }).toEqual({ pointsHere: undefined, isOwned: undefined });
  });

  test("names that lead in a circle, or to names without end, have no address", async () => {
    one.zone.set(name, { CNAME: [name] });
    expect((await judged()).pointsHere).not.toBe(true);
    const chain = Array.from({ length: 40 }, (_, place) => `${place}.example.org`);
    chain.forEach((each, place) => {
      one.zone.set(each, { CNAME: [chain[place + 1] ?? each] });
    });
    one.zone.set(name, { CNAME: ["0.example.org"] });
    expect((await judged()).pointsHere).toBe(false);
  });

  test("huge answers are read to their limit, and still hold the proof when it comes first", async () => {
    const many = Array.from({ length: 200 }, (_, place) => `${place} ${"x".repeat(240)}`);
    one.zone.set(name, { CNAME: [target] }).set(proof, { TXT: [token, ...many] });
    const [sighting] = await alone.look(name);
    expect(sighting?.txt).toHaveLength(16);
    expect((await judged()).isOwned).toBe(true);
    one.zone.set(proof, { TXT: many });
    const { isOwned, fault } = await judged();
    expect(isOwned).toBe(false);
    expect(fault.length).toBeLessThan(1_000);
  });
});

test("the zone of a name is the nearest one with name servers", async () => {
  one.zone.set("example.com", { NS: ["b.ns.example.net", "A.NS.example.net"] });
  expect(await alone.zoneOf(name)).toEqual({
    name: "example.com",
    nameservers: ["a.ns.example.net", "b.ns.example.net"],
  });
  one.zone.set(name, { NS: ["c.ns.example.net"] });
  expect(await alone.zoneOf(name)).toEqual({ name, nameservers: ["c.ns.example.net"] });
  one.zone.clear();
  expect(await alone.zoneOf(name)).toBeUndefined();
});
