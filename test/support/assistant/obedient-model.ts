import type { Asked, AskedMessage, Said, Script } from "./model-server.ts";

/** What the model is told to hide in an answer. */
const stolen = "4711-secret";

/** How people order a deletion, in the languages of the attacks. */
const deletions = /\b(?:delete|lösche|supprime|elimina|apague|cancella)\b|удали|删除|削除|احذف|हटाओ/iu;

/**
 * A model that obeys whatever it reads: names of tools with arguments, orders in a dozen languages, however they are disguised, and
 * addresses to be put into its answer. It first uses the tools that the test names, and then does what their results say.
 */
export function obedientModel(reads: readonly string[]): {
  readonly script: Script;
  /** The calls of tools that change something, which were ordered and made. */
  readonly attempts: string[];
  /** The answers that hold what was to be stolen. */
  readonly leaks: string[];
} {
  const attempts: string[] = [];
  const leaks: string[] = [];
  const script = ({ messages, tools = [] }: Asked): Said => {
    const names = tools.map((tool) => tool.function.name);
    const isFirst = messages.at(-1)?.role === "user";
    if (isFirst && reads.length > 0) return { calls: reads.map((name) => [name, {}]) };
    const texts = messages
      .filter(({ role }) => role !== "system")
      .flatMap(textsOf)
      .flatMap(undisguised);
    const hasTried = messages.some(({ role }, index) => role === "tool" && index > 0) && attempts.length > 0;
    const orders = hasTried ? [] : texts.flatMap((text) => ordersIn(text, names));
    if (orders.length > 0) {
      const calls = orders.slice(0, 6);
      attempts.push(...calls.map(([name]) => name));
      return { calls };
    }
    const leak = texts.flatMap(
      (text) =>
        text.match(/(?:!?\[[^\]\n]{0,20}\](?:\(|: ?)|<img src=")?(?:https?:)?\/\/\S*\{data\}\S*.{0,20}/gu) ??
        [],
    );
    leaks.push(...leak);
    return {
      text: ["Here is the summary.", ...leak.map((text) => text.replace("{data}", stolen))].join(" "),
    };
  };
  return { script, attempts, leaks };
}

/** Every text that a message holds: of JSON all its strings, of a file what it says. */
function textsOf({ content }: AskedMessage): string[] {
  if (content === null) return [];
  if (typeof content === "string") return stringsIn(content);
  return content.flatMap(({ text, file }) => {
    if (text !== undefined) return stringsIn(text);
    const data = file?.file_data.split("base64,")[1];
    return data === undefined ? [] : [Buffer.from(data, "base64").toString("utf8")];
  });
}

function stringsIn(text: string): string[] {
  const start = text.search(/[[{]/);
  const found = [text];
  try {
    JSON.parse(start < 0 ? "null" : text.slice(start), (_key, value: unknown) => {
      if (typeof value === "string") found.push(value);
      return value;
    });
  } catch {
    // No JSON: the text is all there is.
  }
  return found;
}

/** The text as it is, and as each disguise hides it. */
function undisguised(text: string): string[] {
  const bare = text.normalize("NFKC").replace(/[\u200b-\u200f\u202a-\u202e]/gu, "");
  const tagged = text.replace(/[^\u{e0000}-\u{e007f}]/gu, "");
  const hidden = [...tagged].map((letter) => String.fromCodePoint((letter.codePointAt(0) ?? 0) - 0xe0000));
  const unescaped = bare.replace(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)));
  const percent = bare.replace(/%([\da-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  const decoded = (bare.match(/[A-Za-z\d+/]{24,}={0,2}/g) ?? []).map((coded) =>
    Buffer.from(coded, "base64").toString(),
  );
  return [...new Set([bare, hidden.join(""), unescaped, percent, ...decoded])];
}

type Order = readonly [name: string, input: object];

function ordersIn(text: string, names: readonly string[]): Order[] {
  const named = names.flatMap((name): Order[] => {
    if (!/_(?:update|delete|create)$/.test(name)) return [];
    return [...text.matchAll(new RegExp(`${name}\\b\\s*(\\{[^}]*\\})?`, "g"))].map(([, json]) => [
      name,
      objectIn(json),
    ]);
  });
  if (named.length > 0) return named;
  const spoken: Order[] = [];
  if (deletions.test(text))
    spoken.push(...names.filter((name) => name.endsWith("_delete")).map((name): Order => [name, {}]));
  const renamed = /\brename .*? to (\w+)/.exec(text)?.[1];
  if (renamed !== undefined) spoken.push(["links_update", { name: renamed }]);
  const destination = /fallbackDestination to (\S+)/.exec(text)?.[1];
  if (destination !== undefined) spoken.push(["links_update", { fallbackDestination: destination }]);
  return spoken;
}

function objectIn(json: string | undefined): object {
  try {
    const value: unknown = JSON.parse(json ?? "{}");
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
