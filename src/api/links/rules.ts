import type { Timestamp } from "@bufbuild/protobuf/wkt";
import type {
  CreateBulkJobRequest,
  CreateBulkLinksRequest,
  CreateContactLinkRequest,
  CreateLinkRequest,
  CreateThankYouLinkRequest,
  UpdateLinkRequest,
} from "../../../gen/signpost/v1/links_service_pb.js";
import { type Fault, type FieldViolation, faultsFrom, invalid, invalidArgument } from "../../lib/errors.ts";
import { fieldsToChange, mayChange } from "../../lib/field-mask.ts";
import { chosenIdFaults } from "../../lib/ids.ts";
import { destinationFaults, type ScreenedUrl, urlsAt } from "../../model/links/screened-url.ts";
import { classifyShortlink } from "../../model/links/shortlink.ts";
import type { Deps } from "../deps.ts";
import {
  cardFaults,
  contactUrls,
  ownDestinations,
  readTime,
  redirectUrls,
  thankYouUrls,
} from "./wanted-link.ts";

/** The fields that requests for any kind of link have in common. */
type AnyLink = Pick<
  CreateLinkRequest,
  "id" | "shortlink" | "expiresAt" | "qrcodeDesignId" | "qrcodeTemplateId"
>;

/** What is wrong with requests, without the records that they refer to. */
export function linkChecks({ shortUrl, now, bulkJobLinks }: Pick<Deps, "shortUrl" | "now" | "bulkJobLinks">) {
  const everyLink = (
    { id, shortlink, expiresAt, qrcodeDesignId, qrcodeTemplateId }: AnyLink,
    urls: readonly ScreenedUrl[],
  ): Fault[] => [
    ...chosenIdFaults(id),
    ...destinationFaults(urls, [shortUrl]),
    ...(shortlink === "" ? [] : shortlinkFaults(shortlink)),
    ...expiryFaults(expiresAt, now()),
    ...(qrcodeDesignId !== "" && qrcodeTemplateId !== ""
      ? [invalidArgument("qrcodeTemplateId", "must not be given together with qrcodeDesignId")]
      : []),
  ];
  const redirect = (request: CreateLinkRequest): Fault[] => [
    ...(request.destination === "" ? [invalidArgument("destination", "is required")] : []),
    ...everyLink(request, redirectUrls(request)),
  ];
  return {
    redirect,

    many: ({ links }: Pick<CreateBulkLinksRequest, "links">): Fault[] =>
      links.flatMap((link, index) =>
        redirect(link).map((fault) => ({ ...fault, field: `links[${index}].${fault.field}` })),
      ),

    /** The links themselves are checked when the job runs. */
    job: ({ links }: CreateBulkJobRequest): Fault[] =>
      links.length > bulkJobLinks
        ? [invalidArgument("links", `must have at most ${bulkJobLinks} items`)]
        : [],

    contact: (request: CreateContactLinkRequest): Fault[] => [
      ...cardFaults(request),
      ...everyLink(request, contactUrls(request)),
    ],

    thankYou: (request: CreateThankYouLinkRequest): Fault[] => everyLink(request, thankYouUrls(request)),

    change(request: UpdateLinkRequest): Fault[] {
      const { updateMask, fallbackDestination, expiredDestination, expiresAt } = request;
      const given = <Value>(field: string, value: Value) =>
        mayChange(updateMask, field) ? value : undefined;
      const urls = urlsAt(ownDestinations, {
        fallbackDestination: given("fallback_destination", fallbackDestination),
        expiredDestination: given("expired_destination", expiredDestination),
      });
      const contradictions = faultsFrom(() => readLinkUpdate(request));
      const others = [
        ...destinationFaults(urls, [shortUrl]),
        ...expiryFaults(given("expires_at", expiresAt), now()),
      ];
      // A value is not judged when the same request clears its field by a flag.
      const isNamed = ({ field }: Fault) => contradictions.some((one) => one.field === field);
      return [...contradictions, ...others.filter((fault) => !isNamed(fault))];
    },
  };
}

/** What is wrong with a short link that a caller chose. */
export function shortlinkFaults(shortlink: string): Fault[] {
  const found = classifyShortlink(shortlink);
  const description =
    found === "invalid"
      ? "must be 1 to 64 letters, digits, hyphens and underscores, with letters or digits at both ends"
      : found === "reserved"
        ? "is reserved for the service: choose another"
        : undefined;
  return description === undefined ? [] : [{ field: "shortlink", description, reason: "INVALID_SHORTLINK" }];
}

/** What is wrong with the time at which a link is to expire. Empty without a time. */
export function expiryFaults(expiresAt: Timestamp | undefined, now: Date): Fault[] {
  const time = readTime(expiresAt);
  return time === null || time > now
    ? []
    : [{ field: "expiresAt", description: "must be in the future", reason: "INVALID_ARGUMENT" }];
}

/** The wanted values of a link. Undefined leaves a field, null clears a reference. */
export interface LinkUpdate {
  readonly name: string | undefined;
  readonly fallbackDestination: string | undefined;
  readonly expiresAt: Timestamp | null | undefined;
  readonly expiredDestination: string | undefined;
  readonly purpose: string | undefined;
  readonly tags: readonly string[] | undefined;
  readonly directoryId: string | null | undefined;
  readonly pageThemeId: string | null | undefined;
  readonly qrcodeTemplateId: string | null | undefined;
}

/** Throws INVALID_ARGUMENT for fields that contradict each other. */
export function readLinkUpdate(request: UpdateLinkRequest): LinkUpdate {
  const values = {
    name: request.name,
    fallback_destination: request.fallbackDestination,
    expires_at: request.expiresAt,
    expires_at_delete: request.expiresAtDelete,
    expired_destination: request.expiredDestination,
    expired_destination_delete: request.expiredDestinationDelete,
    purpose: request.purpose,
    tags: request.tags.length,
    tags_delete: request.tagsDelete,
    directory_id: request.directoryId,
    directory_id_delete: request.directoryIdDelete,
    page_theme_id: request.pageThemeId,
    qrcode_template_id: request.qrcodeTemplateId,
    qrcode_template_id_delete: request.qrcodeTemplateIdDelete,
  };
  const given = fieldsToChange(values, request.updateMask?.paths);
  const when = <Value>(field: keyof typeof values, value: Value) => (given.has(field) ? value : undefined);
  const directoryId = when("directory_id", request.directoryId);
  const qrcodeTemplateId = when("qrcode_template_id", request.qrcodeTemplateId);
  const expiresAt = when("expires_at", request.expiresAt);
  const expiredDestination = when("expired_destination", request.expiredDestination);
  const tags = when("tags", request.tags);
  const tagsDelete = when("tags_delete", request.tagsDelete);
  const directoryIdDelete = when("directory_id_delete", request.directoryIdDelete);
  const qrcodeTemplateIdDelete = when("qrcode_template_id_delete", request.qrcodeTemplateIdDelete);
  const expiresAtDelete = when("expires_at_delete", request.expiresAtDelete);
  const expiredDestinationDelete = when("expired_destination_delete", request.expiredDestinationDelete);

  const contradictions: FieldViolation[] = [];
  const contradict = (field: string, value: unknown, flag: boolean | undefined) => {
    if (value && flag)
      contradictions.push({ field, description: `must not be given together with ${field}Delete` });
  };
  contradict("tags", tags?.join(), tagsDelete);
  contradict("directoryId", directoryId, directoryIdDelete);
  contradict("qrcodeTemplateId", qrcodeTemplateId, qrcodeTemplateIdDelete);
  contradict("expiresAt", expiresAt, expiresAtDelete);
  contradict("expiredDestination", expiredDestination, expiredDestinationDelete);
  if (contradictions.length > 0) throw invalid(contradictions, "MUTUALLY_EXCLUSIVE_FIELDS");

  const name = when("name", request.name);
  if (name === "") throw invalid([{ field: "name", description: "must not be empty" }]);
  const pageThemeId = when("page_theme_id", request.pageThemeId);
  return {
    name,
    fallbackDestination: when("fallback_destination", request.fallbackDestination),
    purpose: when("purpose", request.purpose),
    expiresAt: expiresAtDelete ? null : expiresAt,
    tags: tagsDelete ? [] : tags,
    // An empty value beside a delete flag counts as absent. Otherwise clients that send every field would clear the
    // directory.
    directoryId: directoryIdDelete ? null : directoryId || undefined,
    expiredDestination: expiredDestinationDelete ? "" : expiredDestination || undefined,
    pageThemeId: pageThemeId === "" ? null : pageThemeId,
    qrcodeTemplateId: qrcodeTemplateIdDelete ? null : qrcodeTemplateId || undefined,
  };
}
