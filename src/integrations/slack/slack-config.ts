/** Where Slack is, and the operator's app there. */
export interface SlackConfig {
  /** The address below which Slack's methods are, without a slash at the end: `https://slack.com/api`. */
  readonly apiUrl: string;
  /** What people connect; nobody can when undefined. */
  readonly app: { readonly clientId: string; readonly clientSecret: string } | undefined;
}
