import { type DescMethod, getOption, hasOption } from "@bufbuild/protobuf";
import { deprecation } from "../../gen/signpost/options/v1/deprecation_pb.js";

/** The announced retirement of a method. */
export interface Retirement {
  /** The day from which the method may be gone; undefined while that is not settled. */
  readonly sunset: Date | undefined;
  /** The headers that announce the retirement: `Deprecation` and `Link` (RFC 9745), `Sunset` (RFC 8594). */
  readonly headers: Readonly<Record<string, string>>;
}

/** The least time that callers have to move to another method, in days. */
const daysMin = 180;

/** Reads a method's retirement; undefined when the method stays. Throws when it leaves callers less than 180 days. */
export function retirementOf(method: DescMethod): Retirement | undefined {
  if (!hasOption(method, deprecation)) return undefined;
  const { since, sunset, link } = getOption(method, deprecation);
  const name = `${method.parent.typeName}/${method.name}`;
  if (!method.deprecated)
    throw new Error(`${name}: has a deprecation, so it must be deprecated = true as well`);
  const began = dayOf(since, name);
  const ends = sunset === "" ? undefined : dayOf(sunset, name);
  if (ends !== undefined && ends.getTime() - began.getTime() < daysMin * 86_400_000)
    throw new Error(`${name}: its sunset must be at least ${daysMin} days after its deprecation`);
  return {
    sunset: ends,
    headers: {
      deprecation: `@${began.getTime() / 1000}`,
      link: `<${new URL(link)}>; rel="deprecation"; type="text/html"`,
      ...(ends === undefined ? {} : { sunset: ends.toUTCString() }),
    },
  };
}

function dayOf(text: string, name: string): Date {
  const day = new Date(`${text}T00:00:00Z`);
  if (Number.isNaN(day.getTime()))
    throw new Error(`${name}: ${JSON.stringify(text)} is no day such as 2026-03-01`);
  return day;
}
