/** What the operator says about the authorities. */
export interface AcmeConfig {
  /** The addresses of their directories. The second one is asked where the first one fails. */
  readonly directories: readonly string[];
  /** Where authorities write when something is wrong with the account. */
  readonly email: string | undefined;
  /** The kind of certificate, of those that the authority offers; its default when undefined. */
  readonly profile: string | undefined;
}
