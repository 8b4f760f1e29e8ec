import type { Db } from "../db/open.ts";

/** A domain for which a certificate is ordered. */
export interface CertifiedDomain {
  readonly workspaceId: string;
  readonly id: string;
  readonly name: string;
}

/** How domains get their certificates. */
export interface CertificateDesk {
  /** Whether a domain needs a certificate of ours. False where a proxy in front of the service ends TLS. */
  readonly needed: boolean;
  /** The names under which CAA records allow our authorities; none when nothing is known of them. */
  readonly caaIdentities: () => Promise<readonly string[]>;
  /**
   * Orders a certificate when the transaction commits. It is called at every check of a domain that leads here, is proved
   * and lacks a certificate or has an old one, so that repeating it must be harmless.
   */
  readonly order: (tx: Db, domain: CertifiedDomain) => Promise<void>;
}

/** For services behind a proxy that ends TLS. */
export const noCertificates: CertificateDesk = {
  needed: false,
  caaIdentities: async () => [],
  order: async () => {},
};
