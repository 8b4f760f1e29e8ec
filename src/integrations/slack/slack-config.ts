/** The operator's app at Slack. */
export interface SlackConfig {
  /** The address below which Slack's methods are, without a slash at the end: `https://slack.com/api`. */
  readonly apiUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
}
