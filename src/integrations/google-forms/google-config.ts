/** The operator's client at Google. Addresses have no slash at the end. */
export interface GoogleConfig {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Where people allow access: `https://accounts.google.com`. */
  readonly accountsUrl: string;
  /** Where tokens are given and revoked: `https://oauth2.googleapis.com`. */
  readonly oauthUrl: string;
  /** Where forms are read: `https://forms.googleapis.com`. */
  readonly formsUrl: string;
}
