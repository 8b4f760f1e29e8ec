import assert from "node:assert/strict";
import type { Client } from "signpost-client";
import { GoogleFormsIntegrationStatus } from "signpost-client/v1/google_forms_integration";
import { refusalOf } from "./journey-support.ts";

/** Finds that no account is connected and no link leads to a form, and that nothing can be fetched. */
export async function askForForms({ googleFormsIntegrations: forms }: Client): Promise<void> {
  assert.equal((await forms.get({})).integration, undefined);
  assert.deepEqual((await forms.listDetectedForms({})).forms, []);
  const status = GoogleFormsIntegrationStatus.PAUSED;
  assert.equal((await refusalOf(forms.getOAuthURL({}))).reason, "FAILED_PRECONDITION");
  const completed = forms.completeOAuth({ code: "none", state: "none" });
  assert.equal((await refusalOf(completed)).reason, "INVALID_STATE");
  for (const call of [() => forms.syncNow({}), () => forms.update({ status }), () => forms.delete({})])
    assert.equal((await refusalOf(call())).reason, "NOT_FOUND");
}
