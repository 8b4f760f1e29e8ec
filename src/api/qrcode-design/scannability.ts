import { type CallError, fail } from "../../lib/errors.ts";
import { type DesignOptions, qrcodeContent, sampleShortlink } from "../../model/design-options.ts";
import { loadDesign } from "../../qr/load-design.ts";
import type { Scannability } from "../../qr/verify.ts";
import { verifyInThread } from "../../qr/verify-thread.ts";
import type { Deps } from "../deps.ts";
import type { DesignRow } from "./queries.ts";

/** Whose code is drawn; a design of no link is tried with an address of usual length. */
type Address = Pick<DesignRow, "shortlink" | "domain_name">;

/** Draws a code in a design and reads it. Takes some 150 ms. */
export async function verify(
  { storage, shortUrl }: Deps,
  { shortlink, domain_name }: Address,
  options: DesignOptions,
  signal: AbortSignal,
): Promise<Scannability> {
  const origin = domain_name === null ? shortUrl : `https://${domain_name}`;
  const { design } = await loadDesign(storage, options);
  return verifyInThread(qrcodeContent(origin, shortlink ?? sampleShortlink), design, signal);
}

/** Throws DESIGN_NOT_SCANNABLE with every cause, when only a readable design is wanted. */
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
    `codes in this design cannot be read (${failingCase}): ${first?.message ?? "make it plainer"}`,
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
