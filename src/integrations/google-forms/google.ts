import { createHash, createHmac } from "node:crypto";
import { objectOf, textOf } from "../../model/json-fields.ts";
import type { GoogleConfig } from "./google-config.ts";
import { GoogleFault, googleFault } from "./google-fault.ts";

/** What a person allowed. */
export interface GoogleGrant {
  readonly refreshToken: string;
  /** The account's id at Google, and its address. Empty when Google does not tell them. */
  readonly subject: string;
  readonly email: string;
}

export interface ResponsePage {
  readonly responses: readonly unknown[];
  /** Empty on the last page. */
  readonly nextPageToken: string;
}

/** A connected account. Every call throws a `GoogleFault` when it fails. */
export interface GoogleAccount {
  readForm(formId: string): Promise<unknown>;
  /** Responses from a time on, in no order; all of them when it is empty. */
  listResponses(formId: string, from: string, pageToken: string): Promise<ResponsePage>;
}

/** Google, as far as forms need it. */
export interface Google {
  /** Where a person allows access. The `code` that comes back is only good for this service (RFC 7636). */
  authorizationUrl(state: string): Promise<string>;
  /** Redeems a code. Throws a `GoogleFault`, of kind `grant` when Google refuses the code. */
  redeem(code: string, state: string): Promise<GoogleGrant>;
  open(refreshToken: string, signal?: AbortSignal): Promise<GoogleAccount>;
  /** Ends a grant, with all its tokens. A grant that has ended is no fault. */
  revoke(refreshToken: string): Promise<void>;
}

const formScopes = [
  "https://www.googleapis.com/auth/forms.body.readonly",
  "https://www.googleapis.com/auth/forms.responses.readonly",
];

/** How long one answer may take, in milliseconds. */
const answerMsMax = 10_000;

/** How large one answer may be, in bytes, after unpacking. */
const answerBytesMax = 16 * 1024 * 1024;

/** How many responses one page has. Together they must fit an answer. */
const pageSize = 100;

export interface GoogleOptions {
  readonly config: GoogleConfig;
  /** Where Google sends a person's browser with the code. */
  readonly returnUrl: string;
  /** Makes the verifiers of codes from their states, so that none has to be kept. */
  readonly verifierKey: Uint8Array;
}

/** The libraries take 0.1 s and 28 MB. */
const loadLibraries = () => import("./google-libraries.ts");

/** Loads Google's libraries with the first call. */
export function lazyGoogle({ config, returnUrl, verifierKey }: GoogleOptions): Google {
  const verifierOf = (state: string) => createHmac("sha256", verifierKey).update(state).digest("base64url");
  const newClient = async () => {
    const { OAuth2Client } = await loadLibraries();
    return new OAuth2Client({
      clientId: config.clientId,
      clientSecret: config.clientSecret,
      redirectUri: returnUrl,
      endpoints: {
        oauth2AuthBaseUrl: `${config.accountsUrl}/o/oauth2/v2/auth`,
        oauth2TokenUrl: `${config.oauthUrl}/token`,
        oauth2RevokeUrl: `${config.oauthUrl}/revoke`,
      },
      transporterOptions: {
        timeout: answerMsMax,
        maxContentLength: answerBytesMax,
        size: answerBytesMax,
        maxRedirects: 0,
        follow: 0,
        // A job comes again soon enough.
        retryConfig: { retry: 0 },
      },
    });
  };
  return {
    async authorizationUrl(state) {
      const [client, { CodeChallengeMethod }] = await Promise.all([newClient(), loadLibraries()]);
      return client.generateAuthUrl({
        // Google gives a refresh token only when a person is asked.
        access_type: "offline",
        prompt: "consent",
        scope: ["openid", "email", ...formScopes],
        state,
        code_challenge_method: CodeChallengeMethod.S256,
        code_challenge: createHash("sha256").update(verifierOf(state)).digest("base64url"),
      });
    },
    async redeem(code, state) {
      const client = await newClient();
      const { tokens } = await faultsNamed(client.getToken({ code, codeVerifier: verifierOf(state) }));
      return readGrant(objectOf(tokens));
    },
    async open(refreshToken, signal) {
      const [client, { forms: openForms }] = await Promise.all([newClient(), loadLibraries()]);
      const forgetAccess = () => client.setCredentials({ refresh_token: refreshToken });
      forgetAccess();
      const { forms } = openForms({ version: "v1", rootUrl: config.formsUrl, auth: client });
      const settings = { retry: false, ...(signal && { signal }) };
      const ask = async <Answer>(call: () => Promise<{ readonly data: Answer }>): Promise<Answer> => {
        const first = call().catch((error: unknown) => {
          // An access token may end before its time.
          if (objectOf(objectOf(error).response).status !== 401) throw error;
          forgetAccess();
          return call();
        });
        return (await faultsNamed(first)).data;
      };
      return {
        readForm: (formId) => ask<unknown>(() => forms.get({ formId }, settings)).then(asAnswer),
        async listResponses(formId, from, pageToken) {
          const filter = from === "" ? {} : { filter: `timestamp >= ${from}` };
          const request = { formId, pageSize, ...filter, ...(pageToken !== "" && { pageToken }) };
          return readPage(await ask<unknown>(() => forms.responses.list(request, settings)));
        },
      };
    },
    async revoke(refreshToken) {
      const client = await newClient();
      // In the body, because addresses end up in logs.
      const data = new URLSearchParams({ token: refreshToken });
      const url = `${config.oauthUrl}/revoke`;
      await client.transporter.request({ url, method: "POST", data }).catch((error: unknown) => {
        const { status, data: answer } = objectOf(objectOf(error).response);
        if (status !== 400 || objectOf(answer).error !== "invalid_token") throw googleFault(error);
      });
    },
  };
}

/** Turns the library's errors into faults. */
async function faultsNamed<Answer>(answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    throw googleFault(error);
  }
}

/** Google answers with an object. The page of some proxy is none. */
function asAnswer(data: unknown): unknown {
  if (typeof data !== "object" || data === null)
    throw new GoogleFault("away", "Google's answer cannot be read");
  return data;
}

function readPage(data: unknown): ResponsePage {
  const { responses, nextPageToken } = objectOf(asAnswer(data));
  return { responses: Array.isArray(responses) ? responses : [], nextPageToken: textOf(nextPageToken) };
}

/** Reads the answer to a code. The identity needs no check of its signature, because it comes from Google itself. */
function readGrant({ refresh_token, scope, id_token }: ReturnType<typeof objectOf>): GoogleGrant {
  const refreshToken = textOf(refresh_token);
  const granted = new Set(textOf(scope).split(" "));
  if (refreshToken === "" || !formScopes.every((name) => granted.has(name)))
    throw new GoogleFault("refused", "the person did not allow to read forms and their responses");
  const { sub, email } = readClaims(textOf(id_token));
  return { refreshToken, subject: textOf(sub).slice(0, 255), email: textOf(email).slice(0, 254) };
}

function readClaims(idToken: string): ReturnType<typeof objectOf> {
  try {
    return objectOf(JSON.parse(Buffer.from(idToken.split(".")[1] ?? "", "base64url").toString()));
  } catch {
    return {};
  }
}
