import { type CallError, fail } from "../../lib/errors.ts";
import { linkOrigin } from "../../model/links/entrypoint.ts";
import { type DesignOptions, qrcodeContent, sampleShortlink } from "../../model/look/design-options.ts";
import { loadDesign } from "../../qr/designs/load-design.ts";
import type { Scannability } from "../../qr/gate/verify.ts";
import { verifyInThread } from "../../qr/gate/verify-thread.ts";
import type { Deps } from "../deps.ts";
import type { DesignRow } from "./queries.ts";

/** The link whose code is drawn. A design without a link is tried with an address of the usual length. */
type Address = Pick<DesignRow, "shortlink" | "domain_name">;

/** Draws a code in a design and reads it, which takes about 200 ms. */
export async function verify(
  { storage, shortUrl }: Deps,
  { shortlink, domain_name }: Address,
  options: DesignOptions,
  signal: AbortSignal,
): Promise<Scannability> {
  const { design } = await loadDesign(storage, options);
  const content = qrcodeContent(linkOrigin(domain_name, shortUrl), shortlink ?? sampleShortlink);
  return verifyInThread(content, design, signal);
}

/** Throws DESIGN_NOT_SCANNABLE with every cause, when the request wants only a readable design. */
export function checkScannable(
  { requireScannable }: { readonly requireScannable: boolean },
  scannability: Scannability,
): void {
  if (requireScannable && !scannability.readable) throw notScannable(scannability);
}

function notScannable({ score, failingCase = "", causes }: Scannability): CallError {
  const [first] = causes;
  return fail(
    "FAILED_PRECONDITION",
    "DESIGN_NOT_SCANNABLE",
    `codes in this design cannot be read (${failingCase}): ${first?.message ?? "make the design simpler"}`,
    {
      metadata: { score: String(score), failingCase },
      preconditions: causes.map(({ cause, message }) => ({
        type: cause,
        subject: "qrcodeDesign",
        description: message,
      })),
    },
  );
}
