import { create } from "@bufbuild/protobuf";
import type { CustomDomainStatus } from "../../../gen/database.ts";
import { CustomDomain_Status, CustomDomainSchema } from "../../../gen/signpost/v1/custom_domain_pb.js";
import type {
  CustomDomainsService,
  UpdateCustomDomainRequest,
} from "../../../gen/signpost/v1/custom_domains_service_pb.js";
import { inTransaction } from "../../db/open.ts";
import { findDomain } from "../../domains/check-domain.ts";
import { refuse } from "../../lib/errors.ts";
import { fieldsToChange } from "../../lib/field-mask.ts";
import { fillPage } from "../../lib/paging/fill-page.ts";
import { readPage } from "../../lib/paging/page.ts";
import { blockedFaults, hostsToScreen } from "../../model/links/screened-url.ts";
import { type Context, callerOf, type Handlers, withCheck } from "../../rpc/handlers.ts";
import { toCustomDomain } from "../resources/domains/custom-domain.ts";
import { notFound } from "../resources/not-found.ts";
import { checkDomain } from "./check-domain.ts";
import { createDomain, type DomainDeps } from "./create-domain.ts";
import { deleteFaults, removeDomain } from "./delete-domain.ts";
import { countDomains, type DomainRow, findBlockedHosts, listDomains } from "./queries.ts";
import { checkNoCircle, rootFaults } from "./rules.ts";
import { toSetupGuide, toValidations } from "./setup-guide.ts";
import { changeRoot, lockDomainForChange } from "./writes.ts";

export function customDomainsService(deps: DomainDeps): Handlers<typeof CustomDomainsService> {
  const { domains } = deps;
  return {
    create: createDomain(deps),
    check: checkDomain(deps),
    update: withCheck(
      (request) => rootFaults(request.rootDestination, deps.shortUrl),
      (request, context) => updateDomain(deps, request, context),
    ),
    delete: withCheck(deleteFaults, (request, context) => removeDomain(deps, request, context)),

    async get({ id }, context) {
      return { customDomain: toCustomDomain(await domainOf(context, id)) };
    },

    async list(request, context) {
      const filter = { workspaceId: callerOf(context).workspaceId, status: statusName(request.status) };
      const page = readPage(request, { key: "time", sort: "domains newest first", filters: filter });
      const [rows, totalCount] = await Promise.all([
        listDomains(context.db, filter, page),
        countDomains(context.db, filter),
      ]);
      const { records, nextPageToken } = await fillPage(page, {
        rows,
        edgeOf: ({ created_at, id }) => ({ key: created_at, id }),
        recordOf: (row) => create(CustomDomainSchema, toCustomDomain(row)),
        write: (domain) => context.writeRecord(CustomDomainSchema, domain),
      });
      return { customDomains: records, nextPageToken, totalCount };
    },

    async validationInstructions({ id }, context) {
      return { validations: toValidations(await domainOf(context, id), domains) };
    },

    async getSetupGuide({ id }, context) {
      const row = await domainOf(context, id);
      const { name, workspace_id: workspaceId } = row;
      const surroundings = await domains.surroundings({ workspaceId, name }, context.signal);
      return { setupGuide: toSetupGuide(row, surroundings, domains) };
    },
  };
}

async function domainOf(context: Context, id: string): Promise<DomainRow> {
  const row = await findDomain(context.db, { workspaceId: callerOf(context).workspaceId, id });
  if (row === undefined) throw notFound("custom domain", "id", id);
  return row;
}

async function updateDomain(
  { now }: DomainDeps,
  { id, rootDestination, updateMask }: UpdateCustomDomainRequest,
  context: Context,
) {
  const { workspaceId } = callerOf(context);
  const changes = fieldsToChange({ root_destination: rootDestination }, updateMask?.paths);
  const screened = [{ field: "rootDestination", url: rootDestination }];
  return inTransaction(context.db, async (tx) => {
    const before = await lockDomainForChange(tx, { workspaceId, id });
    if (before === undefined) throw notFound("custom domain", "id", id);
    if (!changes.has("root_destination") || rootDestination === before.root_destination)
      return { customDomain: toCustomDomain(before) };
    checkNoCircle(rootDestination, before.name);
    refuse(blockedFaults(screened, await findBlockedHosts(tx, hostsToScreen(screened))));
    return { customDomain: toCustomDomain(await changeRoot(tx, before, { rootDestination, at: now() })) };
  });
}

/** The bare name of a status to filter by. The rules let no unknown one through. */
function statusName(status: CustomDomain_Status): CustomDomainStatus | undefined {
  return status === CustomDomain_Status.UNSPECIFIED
    ? undefined
    : (CustomDomain_Status[status] as CustomDomainStatus);
}
