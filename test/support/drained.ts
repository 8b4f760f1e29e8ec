import { eventually, type Service } from "./start-service.ts";

/** Waits until everything that a service has recorded is in the database. */
export async function drained({ metricsUrl }: Pick<Service, "metricsUrl">): Promise<void> {
  const depth = async () => {
    const text = await (await fetch(metricsUrl)).text();
    return Number(/^signpost_spool_depth (\d+)$/m.exec(text)?.[1] ?? -1);
  };
  await eventually(depth, (left) => left === 0, 100_000);
}
