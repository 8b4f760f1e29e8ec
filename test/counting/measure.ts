import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { classifyUserAgent, createClassifier } from "../../src/scan/device/classify.ts";
import { type Confusion, confusionOf, type IsCounted, isCountedHere } from "./confusion.ts";
import { corpus } from "./corpus.ts";
import { listSources, readPublicLists } from "./public-lists.ts";

/*
 * Prints what the classification makes of the public lists and of the contract: `npm run counting`. With the folder of
 * another check-out, it prints the same of that one's rules first: `npm run counting -- ../before`.
 */

const agents = readPublicLists();

for (const { list, version, license } of listSources()) print([list, version, license]);
const [other] = process.argv.slice(2);
if (other !== undefined) printLists(other, await isCountedIn(other));
printLists("here", isCountedHere);
printActors();
printNames();

async function isCountedIn(folder: string): Promise<IsCounted> {
  const path = pathToFileURL(resolve(folder, "src/scan/device/classify.ts")).href;
  const rules: { classifyUserAgent: (userAgent: string) => { counted: boolean } } = await import(path);
  return (userAgent) => rules.classifyUserAgent(userAgent).counted;
}

function printLists(title: string, isCounted: IsCounted): void {
  print([]);
  print([`${title}: lists`, "programs", "counted", "", "people", "refused", "", "recall", "precision"]);
  for (const list of ["all", ...new Set(agents.map((agent) => agent.list))]) {
    for (const isThird of [false, true]) {
      const some = agents.filter(
        (agent) => (list === "all" || agent.list === list) && (!isThird || agent.isHeldOut),
      );
      print([isThird ? `${list}, held out` : list, ...figuresOf(confusionOf(some, isCounted))]);
    }
  }
}

function figuresOf({ programs, programsCounted, browsers, browsersRefused }: Confusion): string[] {
  const share = (part: number, whole: number) =>
    whole === 0 ? "" : `${((100 * part) / whole).toFixed(2)} %`;
  const found = programs - programsCounted;
  return [
    String(programs),
    String(programsCounted),
    share(programsCounted, programs),
    String(browsers),
    String(browsersRefused),
    share(browsersRefused, browsers),
    share(found, programs),
    share(found, found + browsersRefused),
  ];
}

function printActors(): void {
  const classify = createClassifier();
  const actors = ["HUMAN", "BOT", "AGENT", "UNKNOWN"] as const;
  const rows = corpus.filter(({ method }) => method === "GET");
  print([]);
  print(["here: contract", ...actors.map((actor) => `found ${actor}`), "recall"]);
  for (const expected of actors) {
    const own = rows.filter(({ expect }) => expect.deviceActor === expected);
    const found = own.map(({ headers }) => classify(headers["user-agent"], headers).deviceActor);
    const counts = actors.map((actor) => found.filter((each) => each === actor).length);
    const right = found.filter((each) => each === expected).length;
    print([expected, ...counts.map(String), `${((100 * right) / own.length).toFixed(2)} %`]);
  }
}

function printNames(): void {
  const classified = agents
    .filter(({ isProgram }) => isProgram)
    .map((agent) => classifyUserAgent(agent.userAgent));
  const bots = classified.map(({ deviceActorName }) => deviceActorName).filter((name) => name !== "");
  const count = (form: RegExp) => String(bots.filter((name) => form.test(name)).length);
  print([]);
  print(["here: names of programs", "all", "unnamed", "hosts", "languages", "URL pieces"]);
  const host = /^[a-z0-9-]+(?:\.[a-z0-9-]+){1,4}$/;
  const piece = /^(?:bots?|crawlers?|robots?|about|info|help|index)$|\.html?$|\.php$|[/\\?=]/i;
  print([
    " ",
    String(bots.length),
    count(/^Unnamed bot$/),
    count(host),
    count(/^[a-z]{2}[-_][A-Z]{2}$/),
    count(piece),
  ]);
}

function print(cells: readonly string[]): void {
  const [first = "", ...rest] = cells;
  process.stdout.write(`${first.padEnd(34)}${rest.map((cell) => cell.padStart(14)).join("")}\n`);
}
