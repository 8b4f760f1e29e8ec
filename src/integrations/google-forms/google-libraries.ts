/**
 * Google's libraries, which are loaded with this file. They are CommonJS, whose names the bundle finds in a file that
 * imports them, and not in a call of `import`.
 */
export { forms } from "@googleapis/forms";
export { CodeChallengeMethod, OAuth2Client } from "google-auth-library";
