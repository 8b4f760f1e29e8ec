/** What makes a model's answer safe to show. */
export interface Plainer {
  /** Takes a piece of the answer, and returns what can be shown by now. */
  push(text: string): string;
  /** Returns the rest. */
  end(): string;
}

/** An address, or what programs that show text take for one. */
const address =
  /(?:[a-z][a-z\d+.-]{0,20}:)?[\\/]{2}[^\s"'<>`\\^{}|]*|\b(?:data|javascript|vbscript|blob|file|mailto|tel|sms):[^\s"'<>`]+|\bwww\.[^\s"'<>`]+|\b(?:[a-z\d-]{1,63}\.){1,8}[a-z]{2,24}[/?#][^\s"'<>`]*/giu;

/** Characters that nobody sees, and that could carry something away. Those that join letters stay. */
const invisible = /[\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\u{e0000}-\u{e007f}]/gu;

const notAtEnd = new Set(".,;:!?)]}*_~");

/** The length of an address without the marks that end a sentence. */
function lengthOf(found: string): number {
  let length = found.length;
  while (length > 0 && notAtEnd.has(found.charAt(length - 1))) length--;
  return length;
}

/** The addresses in a text, as `createPlainer` recognizes them. */
export function addressesIn(text: string): string[] {
  return [...text.matchAll(address)].map(([found]) => found.slice(0, lengthOf(found)));
}

/**
 * Turns a model's answer into text without links, pictures and markup of pages. A program that shows the answer thereby fetches
 * nothing and offers nothing to click, apart from addresses of the service's own hosts. An address that stands in what the
 * model was given is shown as code. Any other one is left out, because the model may have written into it what it knows.
 */
export function createPlainer(
  isOwnHost: (host: string) => boolean,
  isGiven: (address: string) => boolean,
): Plainer {
  let held = "";
  const plain = (text: string) =>
    text
      .replace(invisible, "")
      .replace(/<(?=[a-z/!?])/gi, "‹")
      .replace(/\](?=[([:])/g, "] ")
      .replace(address, (found) => {
        const length = lengthOf(found);
        const [link, end] = [found.slice(0, length), found.slice(length)];
        if (isOwn(link, isOwnHost, isGiven)) return found;
        return `${isGiven(link) ? `\`${link}\`` : "(link left out)"}${end}`;
      });
  return {
    push(text) {
      held += text;
      // An address has no white space, and is judged once all of it is here.
      const last = Math.max(held.lastIndexOf(" "), held.lastIndexOf("\n"));
      const ready = held.slice(0, last + 1);
      held = held.slice(last + 1);
      return plain(ready);
    },
    end() {
      const rest = plain(held);
      held = "";
      return rest;
    },
  };
}

/** Short links pass their query on to wherever they lead, so that an own address with one has to be a given one. */
function isOwn(
  link: string,
  isOwnHost: (host: string) => boolean,
  isGiven: (address: string) => boolean,
): boolean {
  if (!/^https?:\/\//.test(link) || !URL.canParse(link)) return false;
  const { host, username, password, search, hash } = new URL(link);
  if (username !== "" || password !== "" || !isOwnHost(host)) return false;
  return (search === "" && hash === "") || isGiven(link);
}
