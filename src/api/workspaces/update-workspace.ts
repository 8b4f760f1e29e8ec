import { isDeepStrictEqual } from "node:util";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  UpdateWorkspaceRequest,
  UpdateWorkspaceResponseSchema,
} from "../../../gen/signpost/v1/workspaces_service_pb.js";
import { inTransaction } from "../../db/open.ts";
import { type Fault, fail, invalidArgument, refuse } from "../../lib/errors.ts";
import { fieldsToChange } from "../../lib/field-mask.ts";
import { blockedFaults, hostsToScreen, type ScreenedUrl } from "../../model/links/screened-url.ts";
import { type Context, callerOf } from "../../rpc/handlers.ts";
import type { Deps } from "../deps.ts";
import { digestFrequencyName, toWorkspace } from "../resources/workspace.ts";
import { checkAdministrator, faqFaults, noSuchWorkspace, websiteFaults } from "./rules.ts";
import { type Described, describeWorkspace, type LockedWorkspace, lockWorkspace } from "./writes.ts";

/** Changes what a workspace says about itself. The same values again change nothing, not even `updated_at`. */
export async function updateWorkspace(
  { now }: Pick<Deps, "now">,
  request: UpdateWorkspaceRequest,
  context: Context,
): Promise<MessageInitShape<typeof UpdateWorkspaceResponseSchema>> {
  const caller = callerOf(context);
  const wanted = readWanted(request);
  const website: ScreenedUrl[] = wanted.website ? [{ field: "website", url: wanted.website }] : [];
  return inTransaction(context.db, async (tx) => {
    const before = await lockWorkspace(tx, caller.workspaceId, hostsToScreen(website));
    if (before === undefined) throw noSuchWorkspace(caller.workspaceId);
    refuse(blockedFaults(website, new Set(before.blocked_hosts)));
    const said = describedOf(before);
    const after: Described = { ...said, ...wanted };
    if (said.slug !== null && after.slug !== said.slug)
      throw fail(
        "FAILED_PRECONDITION",
        "SLUG_IMMUTABLE",
        `slug: ${said.slug} is this workspace's slug for good; leave it out`,
      );
    if (after.enforce_mfa !== said.enforce_mfa) checkAdministrator(caller, "change enforceMfa");
    const row = isDeepStrictEqual(after, said)
      ? before
      : await describeWorkspace(tx, before.id, after, now());
    return { workspace: toWorkspace(row) };
  });
}

function describedOf(row: LockedWorkspace): Described {
  const { name, slug, short_description, description, website, tags, faq } = row;
  const { digest_frequency, enforce_mfa } = row;
  return { name, slug, short_description, description, website, tags, faq, digest_frequency, enforce_mfa };
}

/** What is wrong with a request besides the rules of its fields and the block list. */
export function updateFaults(request: UpdateWorkspaceRequest): Fault[] {
  const { name, website, faq } = request;
  const given = fieldsOf(request);
  return [
    ...(given.has("name") && name === "" ? [invalidArgument("name", "must not be empty")] : []),
    ...(given.has("website") ? websiteFaults({ field: "website", url: website }) : []),
    ...(given.has("faq") ? faqFaults(faq) : []),
  ];
}

function fieldsOf(request: UpdateWorkspaceRequest): ReadonlySet<keyof Described> {
  // UNSPECIFIED has a value in a row, but none in a request.
  const values = { ...valuesOf(request), digest_frequency: request.digestFrequency };
  return fieldsToChange<keyof Described>(values, request.updateMask?.paths);
}

function valuesOf(request: UpdateWorkspaceRequest): Described {
  return {
    name: request.name,
    // An empty slug stands for none.
    slug: request.slug || null,
    short_description: request.shortDescription,
    description: request.description,
    website: request.website,
    tags: request.tags,
    faq: request.faq,
    digest_frequency: digestFrequencyName(request.digestFrequency),
    enforce_mfa: request.enforceMfa,
  };
}

function readWanted(request: UpdateWorkspaceRequest): Partial<Described> {
  const given = fieldsOf(request);
  const values = Object.entries(valuesOf(request));
  return Object.fromEntries(values.filter(([name]) => given.has(name as keyof Described)));
}
