import type { SecureContext } from "node:tls";
import type { KeyPair } from "../ports.ts";

/** The certificates of a port that serves many names. */
export interface HostCertificates {
  /** The certificate for a name that is in memory. */
  peek(name: string): SecureContext | undefined;
  /**
   * The certificate for a name that the client at `address` asks for. Undefined when this service has none, or when too
   * many ask for names that it does not know. Never rejects.
   */
  find(name: string, address: string): Promise<SecureContext | undefined> | SecureContext | undefined;
  /** The service's own certificate, for clients that name no host; the same object until it changes. Never rejects. */
  findOwn(): Promise<KeyPair | undefined>;
  /** The certificate that answers an authority's challenge of a name (RFC 8737). Never rejects. */
  findChallenge(name: string, address: string): Promise<SecureContext | undefined>;
}
