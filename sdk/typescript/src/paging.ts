import type { CallOptions } from "@connectrpc/connect";

interface Cursor {
  readonly nextPageToken: string;
}

/** An answer with the token of the next page, at its top or in the part for the requested format. */
export type Page = Cursor | { readonly json?: Cursor | undefined; readonly csv?: Cursor | undefined };

/**
 * Calls any list call until its last page: `pages(client.links.list, { pageSize: 50n })`. It starts at the request's
 * own page token, if there is one.
 */
export async function* pages<Request extends { pageToken?: string }, Answer extends Page>(
  list: (request: Request, options?: CallOptions) => Promise<Answer>,
  request: Request,
  options?: CallOptions,
): AsyncGenerator<Answer, void, undefined> {
  for (let pageToken = request.pageToken ?? ""; ; ) {
    const page = await list({ ...request, pageToken }, options);
    yield page;
    pageToken = nextPageToken(page);
    if (pageToken === "") return;
  }
}

/** Every record of a list call, page after page: `items(client.links.list, {}, (page) => page.links)`. */
export async function* items<Request extends { pageToken?: string }, Answer extends Page, Item>(
  list: (request: Request, options?: CallOptions) => Promise<Answer>,
  request: Request,
  pick: (page: Answer) => Iterable<Item>,
  options?: CallOptions,
): AsyncGenerator<Item, void, undefined> {
  for await (const page of pages(list, request, options)) yield* pick(page);
}

function nextPageToken(page: Page): string {
  if ("nextPageToken" in page) return page.nextPageToken;
  return page.json?.nextPageToken ?? page.csv?.nextPageToken ?? "";
}
