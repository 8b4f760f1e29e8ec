/** Calls a running service over REST. */
export interface RestApi {
  /** Returns the answer's JSON; throws when the call is refused. */
  call<T = Answer>(
    method: string,
    path: string,
    body?: object,
    headers?: Readonly<Record<string, string>>,
  ): Promise<T>;
  createLink(request?: object, headers?: Readonly<Record<string, string>>): Promise<LinkAnswer>;
  /** The newest events with their devices, at most 1,000. */
  events(): Promise<EventAnswer[]>;
}

/** The parts of answers that tests read. */
export interface Answer {
  readonly link: LinkAnswer;
  readonly links: readonly LinkAnswer[];
  readonly token: { readonly id: string };
  readonly accessToken: string;
  readonly nextPageToken: string;
}

export interface LinkAnswer {
  readonly id: string;
  readonly name: string;
  readonly shortlink: string;
  readonly entrypoint: string;
  readonly eventCount: string;
  readonly qrcodeSignedUrl?: string;
}

export interface EventAnswer {
  readonly id: string;
  readonly linkId: string;
  readonly action: string;
  readonly visitType: string;
  readonly destination: string;
  readonly createdAt: string;
  readonly device: Readonly<Record<string, unknown>>;
}

export function restApi(baseUrl: string, token: string): RestApi {
  const api: RestApi = {
    call: async (method, path, body, headers = {}) => {
      const response = await fetch(`${baseUrl}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return JSON.parse(text);
    },
    createLink: async (request = {}, headers = {}) => {
      const body = { destination: "https://example.com/", ...request };
      return (await api.call("POST", "/v1/links", body, headers)).link;
    },
    events: async () => {
      const path = "/v1/events?pageSize=1000&include=device";
      return (await api.call<{ json: { events: EventAnswer[] } }>("GET", path)).json.events;
    },
  };
  return api;
}
