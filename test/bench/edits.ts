import { browser } from "./paced.ts";
import { atLeast, atMost, type Finding, holds, median, told } from "./report.ts";
import { processorMs, type ServiceProcess, startServiceProcess } from "./service-process.ts";
import { call, post } from "./visits.ts";

/** How many edits per second run while visits are measured. */
const perSecond = 100;
const linkCount = 4;
/** Two editors for each link, so that edits of one link wait for each other too. */
const editorCount = 8;
const visitorsEach = 4;
const arrivalMsMax = 30_000;
const half = "https://example.com/half";

/** A link with a condition whose only option leads to one of two redirects. */
interface EditedLink {
  readonly path: string;
  /** The path of the condition. */
  readonly stepPath: string;
  readonly exits: readonly { readonly stepId: string; readonly destination: string }[];
}

/**
 * Two processes on one database. Editors change workflows through both as fast as they can while visitors come to both.
 * It measures the edits per second, what visits saw of the edits, and the time from an edit's answer until the other
 * process serves the edit.
 */
export async function editsRow({ quick }: { readonly quick: boolean }): Promise<Finding[]> {
  const first = await startServiceProcess();
  try {
    const second = await startServiceProcess({ beside: first });
    try {
      return await measure([first, second], quick ? 5 : 10);
    } finally {
      await second.remove();
    }
  } finally {
    await first.remove();
  }
}

type Pair = readonly [ServiceProcess, ServiceProcess];

async function measure(pair: Pair, seconds: number): Promise<Finding[]> {
  const links: EditedLink[] = [];
  for (let index = 0; index < linkCount; index++)
    links.push(await createEditedLink(pair[0], `/edited-${index}`));
  const watched = await createEditedLink(pair[0], "/watched");
  // The first seconds compile code; the other rows warm up in the same way.
  await load(pair, links, watched, 3);
  const usedBefore = await processorMsOf(pair);
  const { edits, seconds: taken, locations, arrivalsMs } = await load(pair, links, watched, seconds);
  const used = (await processorMsOf(pair)) - usedBefore;
  const visits = [...locations.values()].reduce((sum, count) => sum + count, 0);
  const whole =
    links[0]?.exits.reduce((sum, { destination }) => sum + (locations.get(destination) ?? 0), 0) ?? 0;
  return [
    atLeast(`edits of workflows through two processes for ${taken.toFixed(0)} s`, {
      ours: edits / taken,
      peer: perSecond,
      unit: "/s",
      budget: 1,
    }),
    holds("  no visit saw half of one", whole === visits && visits > 0, `${visits - whole} of ${visits}`),
    told("  until the other process went by one, median", { ours: median(arrivalsMs), unit: "ms" }),
    atMost("  the same, at most", { ours: Math.max(...arrivalsMs) / 1000, unit: "s", budget: 1 }),
    told("  processor time of both processes a second", { ours: used / taken, unit: "ms" }),
  ];
}

interface Load {
  readonly edits: number;
  readonly seconds: number;
  /** The destinations of visits, with the number of visits to each. */
  readonly locations: ReadonlyMap<string, number>;
  /** The time from an edit's answer until the other process served the edit, in milliseconds. */
  readonly arrivalsMs: readonly number[];
}

async function load(
  pair: Pair,
  links: readonly EditedLink[],
  watched: EditedLink,
  seconds: number,
): Promise<Load> {
  const startedAt = performance.now();
  const goesOn = () => performance.now() - startedAt < seconds * 1000;
  const locations = new Map<string, number>();
  const arrivalsMs: number[] = [];
  let edits = 0;

  async function editLink(editor: number): Promise<void> {
    const link = at(links, editor);
    // The editors of one link call different processes.
    const service = at(pair, Math.floor(editor / links.length));
    for (let version = 0; goesOn(); version++) {
      await edit(service, link, `${editor}-${startedAt}-${version}`, version);
      edits++;
    }
  }

  async function visitLinks({ port }: ServiceProcess, visitor: number): Promise<void> {
    for (let turn = visitor; goesOn(); turn++) {
      const location = await visit(port, at(links, turn).path);
      locations.set(location, (locations.get(location) ?? 0) + 1);
    }
  }

  async function watchEdits(): Promise<void> {
    for (let version = 0; goesOn(); version++) {
      const [here, there] = [at(pair, version), at(pair, version + 1)];
      const { destination } = at(watched.exits, version);
      await edit(here, watched, `${startedAt}-${version}`, version);
      const answeredAt = performance.now();
      while ((await visit(there.port, watched.path)) !== destination)
        if (performance.now() - answeredAt > arrivalMsMax) throw new Error("an edit never arrived");
      arrivalsMs.push(performance.now() - answeredAt);
    }
  }

  await Promise.all([
    ...Array.from({ length: editorCount }, (_, editor) => editLink(editor)),
    ...pair.flatMap((service) =>
      Array.from({ length: visitorsEach }, (_, visitor) => visitLinks(service, visitor)),
    ),
    watchEdits(),
  ]);
  return {
    edits: edits + arrivalsMs.length,
    seconds: (performance.now() - startedAt) / 1000,
    locations,
    arrivalsMs,
  };
}

/**
 * Gives the option a new id and a new exit. A visit that mixed the new option with the old connections, or the reverse,
 * would find no next step and get the fallback.
 */
async function edit(service: ServiceProcess, link: EditedLink, id: string, version: number): Promise<void> {
  const nextStepId = at(link.exits, version).stepId;
  const option = { id, name: "People", value: "DEVICE_ACTOR_CONDITION_VALUE_HUMAN", nextStepId };
  await call(service, "PATCH", link.stepPath, { payload: { deviceActorCondition: { options: [option] } } });
}

/** Visits a path and returns the destination. */
async function visit(port: number, path: string): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    redirect: "manual",
    headers: { "user-agent": browser },
  });
  await answer.arrayBuffer();
  return answer.headers.get("location") ?? `status ${answer.status}`;
}

async function createEditedLink(service: ServiceProcess, path: string): Promise<EditedLink> {
  const destinations = ["https://example.com/even", "https://example.com/odd"] as const;
  const order = { destination: destinations[0], shortlink: path.slice(1), fallbackDestination: half };
  const { link, workflowSteps } = await post<Made>(service, "/v1/links", order);
  const steps = `/v1/links/${link.id}/workflow-steps`;
  const idOf = (action: string) =>
    workflowSteps.find(({ eventAction }) => eventAction === `EVENT_ACTION_${action}`)?.id ?? "";
  const addStep = async (action: string, payload: object) =>
    (await post<{ workflowStep: Step }>(service, steps, { eventAction: `EVENT_ACTION_${action}`, payload }))
      .workflowStep.id;
  const even = idOf("CLIENT_REDIRECT");
  const odd = await addStep("CLIENT_REDIRECT", { clientRedirect: { destination: destinations[1] } });
  const condition = await addStep("DEVICE_ACTOR_CONDITION", { deviceActorCondition: {} });
  const made = {
    path,
    stepPath: `${steps}/${condition}`,
    exits: [
      { stepId: even, destination: destinations[0] },
      { stepId: odd, destination: destinations[1] },
    ],
  };
  await edit(service, made, "first", 0);
  const connection = `${steps}/${idOf("LINK_VISIT")}/branches/next/connection`;
  await call(service, "PUT", connection, { nextStepId: condition });
  return made;
}

interface Step {
  readonly id: string;
  readonly eventAction: string;
}

interface Made {
  readonly link: { readonly id: string };
  readonly workflowSteps: readonly Step[];
}

async function processorMsOf(pair: Pair): Promise<number> {
  return (await processorMs(pair[0].pid)) + (await processorMs(pair[1].pid));
}

/** The item at `index`, counted around. */
function at<Item>(items: readonly Item[], index: number): Item {
  const item = items[index % items.length];
  if (item === undefined) throw new Error("there is nothing to take in turn");
  return item;
}
