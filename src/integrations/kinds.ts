/** The programs of others that a workspace can be connected to by an authorization. */
export type IntegrationKind = "slack" | "google-forms";
