import { atLeast, type Finding, inTurn, medianOf, told } from "./report.ts";
import { processorMs, type ServiceProcess, startServiceProcess } from "./service-process.ts";
import { call, createLinks, destinations, post, visitRequests } from "./visits.ts";
import { type LoadReport, wrk } from "./wrk.ts";

const connections = 64;

interface Condition {
  readonly action: string;
  readonly variant: string;
  readonly choices: object;
}

/** Five conditions on a visit, none of which needs the database. Every branch leads to the same step. */
const conditions: readonly ((nextStepId: string) => Condition)[] = [
  (nextStepId) => ({
    action: "COUNTRY_CONDITION",
    variant: "countryCondition",
    choices: { countries: ["DE", "FR"].map((countryCode) => ({ countryCode, nextStepId })) },
  }),
  (nextStepId) => ({
    action: "DEVICE_TYPE_CONDITION",
    variant: "deviceTypeCondition",
    choices: { options: [{ name: "Phones", value: "DEVICE_TYPE_CONDITION_VALUE_MOBILE", nextStepId }] },
  }),
  (nextStepId) => ({
    action: "DEVICE_BROWSER_CONDITION",
    variant: "deviceBrowserCondition",
    choices: { options: [{ name: "Firefox", value: "DEVICE_BROWSER_CONDITION_VALUE_FIREFOX", nextStepId }] },
  }),
  (nextStepId) => ({
    action: "DAY_OF_WEEK_CONDITION",
    variant: "dayOfWeekCondition",
    choices: { options: [{ name: "Weekend", daysOfWeek: [0, 6], nextStepId }] },
  }),
  (nextStepId) => ({
    action: "TIME_OF_DAY_CONDITION",
    variant: "timeOfDayCondition",
    choices: { ranges: [{ name: "Lunch", startTime: "11:30", endTime: "14:00", nextStepId }] },
  }),
];

/** Redirects after five conditions, compared with plain redirects of the same process. */
export async function conditionsRow({ quick }: { readonly quick: boolean }): Promise<Finding[]> {
  const service = await startServiceProcess();
  try {
    await createLinks(service);
    const paths = await createConditionalLinks(service);
    const load = async (requests: readonly string[]) => {
      const before = await processorMs(service.pid);
      const report = await wrk({ port: service.port, requests, connections, seconds: quick ? 3 : 4 });
      const microseconds = (((await processorMs(service.pid)) - before) * 1000) / report.requests;
      await service.settle();
      return { ...report, microseconds };
    };
    const [plain, asked] = [visitRequests(service.port), visitRequests(service.port, paths)];
    const rounds = (count: number) =>
      inTurn(
        count,
        () => load(plain),
        () => load(asked),
      );
    await rounds(1);
    const reports = await rounds(quick ? 3 : 5);
    const perSecond = (report: LoadReport) => report.requests / report.seconds;
    const cost = (report: { readonly microseconds: number }) => report.microseconds;
    return [
      atLeast("redirect after five conditions, as a part of plain", {
        ours: medianOf(reports.ours, perSecond),
        peer: medianOf(reports.peer, perSecond),
        unit: "/s",
        budget: 0.8,
      }),
      told("  processor time of the process a redirect", {
        ours: medianOf(reports.ours, cost),
        peer: `${medianOf(reports.peer, cost).toFixed(1)} µs`,
        unit: "µs",
      }),
    ];
  } finally {
    await service.remove();
  }
}

/**
 * Makes as many links as there are plain ones, each with the conditions before its redirect; returns their addresses.
 */
async function createConditionalLinks(service: ServiceProcess): Promise<string[]> {
  const paths = destinations.map((_, index) => `/asked-${index}`);
  for (const path of paths) await createConditionalLink(service, path);
  return paths;
}

async function createConditionalLink(service: ServiceProcess, path: string): Promise<void> {
  const destination = "https://example.com/asked";
  const order = { destination, shortlink: path.slice(1) };
  const { link } = await post<{ link: { id: string } }>(service, "/v1/links", order);
  const steps = `/v1/links/${link.id}/workflow-steps`;
  const { workflowSteps } = await call<Steps>(service, "GET", steps);
  const idOf = (action: string) =>
    workflowSteps.find(({ eventAction }) => eventAction === `EVENT_ACTION_${action}`)?.id ?? "";
  let nextStepId = idOf("CLIENT_REDIRECT");
  for (const condition of conditions.toReversed()) {
    const { action, variant, choices } = condition(nextStepId);
    const made = await post<{ workflowStep: { id: string } }>(service, steps, {
      eventAction: `EVENT_ACTION_${action}`,
      payload: { [variant]: { ...choices, elseNextStepId: nextStepId } },
    });
    nextStepId = made.workflowStep.id;
  }
  await call(service, "PUT", `${steps}/${idOf("LINK_VISIT")}/branches/next/connection`, { nextStepId });
}

interface Steps {
  readonly workflowSteps: readonly { readonly id: string; readonly eventAction: string }[];
}
