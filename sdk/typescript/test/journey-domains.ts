import assert from "node:assert/strict";
import { type Client, items } from "signpost-client";
import { CustomDomain_Status } from "signpost-client/v1/custom_domain";
import { all, given } from "./journey-support.ts";

/** Registers a name that leads nowhere, reads what is missing, and deletes the domain. */
export async function bringDomain({ customDomains }: Client, run: string): Promise<void> {
  const made = given((await customDomains.create({ name: `${run}.example.com` })).customDomain);
  const { id } = made;
  assert.equal(made.status, CustomDomain_Status.DOMAIN_PENDING);
  assert.notEqual(made.lastError, "");
  assert.equal((await customDomains.check({ id })).customDomain?.status, made.status);
  assert.equal((await customDomains.get({ id })).customDomain?.name, made.name);
  const found = await all(items(customDomains.list, {}, (page) => page.customDomains));
  assert(found.some((each) => each.id === id));
  const { validations } = await customDomains.validationInstructions({ id });
  assert.equal(validations[0]?.name, `_svc-verify.${made.name}`);
  assert.equal((await customDomains.getSetupGuide({ id })).setupGuide?.records.length, 2);
  const rootDestination = "https://example.com/home";
  const changed = await customDomains.update({
    id,
    rootDestination,
    updateMask: { paths: ["root_destination"] },
  });
  assert.equal(changed.customDomain?.rootDestination, rootDestination);
  await customDomains.delete({ id });
}
