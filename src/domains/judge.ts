import { shownName } from "./name.ts";
import type { Answer } from "./name-server.ts";
import type { Sighting } from "./observe.ts";
import { ownershipRecord } from "./ownership.ts";
import type { DnsFindings } from "./status.ts";

/** What a domain's records should say. */
export interface Expected {
  readonly name: string;
  /** The host to which the domain should lead. */
  readonly target: string;
  readonly token: string;
  /** Whether the workspace still has to prove that it owns the name. */
  readonly needsProof: boolean;
  /** The names under which CAA records allow our authorities; nothing is said about such records when there are none. */
  readonly caaIdentities: readonly string[];
}

/** What name servers told, and what the owner should change; the fault is empty when nothing is wrong. */
export interface Judgement extends DnsFindings {
  readonly fault: string;
}

/** Whether one server's answer is right; undefined when it did not answer. Otherwise `fault` says what it said instead. */
interface Opinion {
  readonly isRight: boolean | undefined;
  readonly fault: string;
}

/** Judges the answers of all name servers that were asked. */
export function judge(sightings: readonly Sighting[], expected: Expected): Judgement {
  const pointing = agree(sightings, (sighting) => pointingOf(sighting, expected));
  const ownership = agree(sightings, (sighting) => ownershipOf(sighting, expected));
  const faults = [
    pointing.fault,
    expected.needsProof ? ownership.fault : "",
    ...sightings.map((sighting) => caaFault(sighting, expected)),
  ];
  return {
    pointsHere: pointing.isRight,
    isOwned: ownership.isRight,
    fault: [...new Set(faults)].filter((fault) => fault !== "").join(" "),
  };
}

/** One that does not answer is no witness. Where two contradict each other, nothing is known yet. */
function agree(sightings: readonly Sighting[], opinionOf: (sighting: Sighting) => Opinion): Opinion {
  const opinions = sightings.map((sighting) => ({ ...opinionOf(sighting), server: sighting.server }));
  const heard = opinions.filter(({ isRight }) => isRight !== undefined);
  const wrong = heard.find(({ isRight }) => isRight === false);
  const right = heard.find(({ isRight }) => isRight === true);
  if (wrong === undefined)
    return right ?? opinions[0] ?? { isRight: undefined, fault: "No name server is known." };
  if (right === undefined) return wrong;
  const lag = `That is what ${wrong.server} says; ${right.server} sees the right record already, so that the change may be on its way.`;
  return { isRight: undefined, fault: `${wrong.fault} ${lag}` };
}

function pointingOf({ cname, addresses, target: own }: Sighting, { name, target }: Expected): Opinion {
  const right = { isRight: true, fault: "" };
  if (cname.includes(target) && typeof cname !== "string") return right;
  const shown = shownName(name);
  if (addresses === "failed" || cname === "failed")
    return { isRight: undefined, fault: `The name servers of ${shown} gave no answer that can be used.` };
  const ours = typeof own === "string" ? [] : own;
  const add =
    ours.length === 0 ? "" : `, or at the apex of a zone an ALIAS record to it, or addresses ${listed(ours)}`;
  const expected = `Expected: a CNAME record to ${target}${add}.`;
  if (typeof cname !== "string" && !leadsTo(addresses, ours))
    return { isRight: false, fault: `${shown} has a CNAME record to ${listed(cname)}. ${expected}` };
  if (addresses === "none")
    return { isRight: false, fault: `${shown} has no address and no CNAME record. ${expected}` };
  const strays = addresses.filter((address) => !ours.includes(address));
  if (strays.length === 0) return right;
  const more = strays.length < addresses.length ? "also " : "";
  return { isRight: false, fault: `${shown} ${more}leads to ${listed(strays)}. ${expected}` };
}

function leadsTo(addresses: Answer<string>, ours: readonly string[]): boolean {
  return typeof addresses !== "string" && addresses.every((address) => ours.includes(address));
}

function ownershipOf({ txt }: Sighting, { name, token }: Expected): Opinion {
  const record = ownershipRecord(name);
  if (txt === "failed")
    return { isRight: undefined, fault: `The name servers gave no answer for ${record}.` };
  const expected = `Expected: a TXT record ${token}.`;
  if (txt === "none") return { isRight: false, fault: `${record} has no TXT record. ${expected}` };
  if (txt.some((text) => text.trim() === token)) return { isRight: true, fault: "" };
  return { isRight: false, fault: `${record} has the TXT record ${listed(txt)}. ${expected}` };
}

/** Records without the property `issue` forbid nothing (RFC 8659, section 4.2). */
function caaFault({ caa }: Sighting, { caaIdentities }: Expected): string {
  const issuers = caa?.records.flatMap(({ issue }) => (issue === undefined ? [] : [issue])) ?? [];
  if (caa === undefined || issuers.length === 0 || caaIdentities.length === 0) return "";
  const allowed = issuers.map((issuer) => issuer.split(";", 1)[0]?.trim().toLowerCase());
  if (caaIdentities.some((identity) => allowed.includes(identity))) return "";
  const found = issuers.map((issuer) => `0 issue "${plain(issuer)}"`);
  return `The CAA record ${listed(found)} of ${caa.name} forbids certificates of ${listed(caaIdentities)}. Expected: also a CAA record 0 issue "${caaIdentities[0]}".`;
}

const listedMax = 4;

/** A few of the values that somebody else's name server gave, in plain characters. */
function listed(values: readonly string[]): string {
  const some = values.slice(0, listedMax).map(plain);
  return some.join(", ") + (values.length > listedMax ? " and more" : "");
}

const plainLengthMax = 120;

function plain(text: string): string {
  const visible = text.slice(0, plainLengthMax).replace(/[^\x20-\x7e]/g, "?");
  return text.length > plainLengthMax ? `${visible}…` : visible;
}
