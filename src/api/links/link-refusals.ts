import { CallError, type FieldViolation, fail, refusal } from "../../lib/errors.ts";
import { linkOrigin } from "../../model/links/entrypoint.ts";
import { blockedFaults, destinationFaults } from "../../model/links/screened-url.ts";
import { classifyShortlink } from "../../model/links/shortlink.ts";
import { notFound } from "../resources/not-found.ts";
import type { References, Taken } from "./reference-queries.ts";
import type { WantedLink } from "./wanted-link.ts";

/** What refuses one of the wanted links, by its place in the request. */
interface Refusal {
  readonly index: number;
  readonly field: string;
  readonly error: CallError;
}

/** What refuses links because of the records that they refer to. */
export function referenceRefusals(
  wanted: readonly WantedLink[],
  found: References,
  shortUrl: string,
): readonly Refusal[] {
  const blockedHosts = new Set(found.blocked_hosts);
  const domains = new Map(found.domains.map((domain) => [domain.id, domain]));
  const directories = new Set(found.directories.map(({ id }) => id));
  const templates = new Set(found.templates.map(({ id }) => id));
  const designs = new Map(found.designs.map(({ id, used }) => [id, used]));
  const refusals: Refusal[] = [];
  wanted.forEach((link, index) => {
    const refuse = (field: string, error: CallError | undefined) => {
      if (error !== undefined) refusals.push({ index, field, error });
    };
    const missing = (
      what: string,
      field: (typeof referenceFields)[number],
      known: { has(id: string): boolean },
    ) => {
      const id = link[field];
      if (id !== "" && !known.has(id.toLowerCase())) refuse(field, notFound(what, field, id));
    };
    refuse("", refusal(blockedFaults(link.urls, blockedHosts)));
    const domain = domains.get(link.customDomainId.toLowerCase());
    if (domain)
      refuse("", refusal(destinationFaults(link.urls, [shortUrl, linkOrigin(domain.name, shortUrl)])));
    missing("custom domain", "customDomainId", domains);
    missing("directory", "directoryId", directories);
    missing("QR code design", "qrcodeDesignId", designs);
    missing("QR code template", "qrcodeTemplateId", templates);
    if (domain && domain.status !== "ACTIVE" && domain.status !== "RENEWAL_PENDING")
      refuse("customDomainId", domainNotActive(domain));
    const designId = link.qrcodeDesignId.toLowerCase();
    if (designs.get(designId)) refuse("qrcodeDesignId", designInUse(designId));
    // A design belongs to one link: the next one of the request finds it used.
    if (designId !== "" && designs.has(designId)) designs.set(designId, true);
  });
  return refusals;
}

const referenceFields = ["customDomainId", "directoryId", "qrcodeDesignId", "qrcodeTemplateId"] as const;

/** Whether a link refers to records of the workspace. */
export function refersToOthers(link: WantedLink): boolean {
  return referenceFields.some((field) => link[field] !== "");
}

/** What refuses links whose short link or id is taken, by other links or by an earlier one of the request. */
export function takenRefusals(
  wanted: readonly WantedLink[],
  hosts: readonly string[],
  taken: Pick<Taken, "places" | "ids">,
): readonly Refusal[] {
  const places = new Set(taken.places.map(({ host, shortlink }) => `${host}/${shortlink}`));
  const ids = new Set(taken.ids);
  return wanted.flatMap(({ shortlink, id: chosenId }, index): Refusal[] => {
    const place = `${hosts[index]}/${shortlink}`;
    const id = chosenId.toLowerCase();
    const isPlaceTaken = shortlink !== "" && (places.has(place) || isLinkId(shortlink));
    const isIdTaken = id !== "" && ids.has(id);
    places.add(place);
    ids.add(id);
    return [
      ...(isPlaceTaken ? [{ index, field: "shortlink", error: shortlinkTaken(shortlink) }] : []),
      ...(isIdTaken ? [{ index, field: "id", error: idTaken(id) }] : []),
    ];
  });
}

/** Whether a short link looks like an id. Nothing is looked up for it, so that nobody can tell which ids are in use. */
export function isLinkId(shortlink: string): boolean {
  return classifyShortlink(shortlink) === "id";
}

/**
 * Throws the first refusal, if there is any. Of several links, the error names every refused field, and has the status of
 * the first refused link. `placeOf` says what stands before a link's fields.
 */
export function throwRefusals(refusals: readonly Refusal[], placeOf: (index: number) => string): void {
  const [first] = refusals.toSorted((a, b) => a.index - b.index);
  if (first === undefined) return;
  const { code, reason, message, refusal: details } = first.error;
  const place = placeOf(first.index);
  if (place === "") throw first.error;
  const fields = refusals.flatMap(({ index, field, error }) => fieldsOf(placeOf(index), field, error));
  // Messages of one link name the field, unless they begin with it.
  const isNamed = first.field === "" || message.startsWith(`${first.field}: `);
  throw new CallError(code, reason, place + (isNamed ? message : `${first.field}: ${message}`), {
    ...details,
    fields,
  });
}

function fieldsOf(
  place: string,
  name: string,
  { message, refusal: { fields } }: CallError,
): FieldViolation[] {
  if (fields !== undefined) return fields.map((one) => ({ ...one, field: place + one.field }));
  return [{ field: place + name, description: message.replace(`${name}: `, "") }];
}

export function shortlinkTaken(shortlink: string): CallError {
  return fail(
    "ALREADY_EXISTS",
    "SHORTLINK_TAKEN",
    `shortlink ${shortlink} is in use, or was in use within the last 90 days: choose another`,
    { metadata: { shortlink } },
  );
}

export function idTaken(id: string): CallError {
  return fail("ALREADY_EXISTS", "ID_TAKEN", `id ${id} is in use`, { metadata: { id } });
}

function domainNotActive({ name, status }: References["domains"][number]): CallError {
  const message = `custom domain ${name} has status ${status}: only ACTIVE and RENEWAL_PENDING ones take links`;
  return fail("FAILED_PRECONDITION", "DOMAIN_NOT_ACTIVE", message, { metadata: { status } });
}

function designInUse(id: string): CallError {
  return fail(
    "FAILED_PRECONDITION",
    "DESIGN_IN_USE",
    `QR code design ${id} is already used by a link or template: make a new one`,
  );
}
