/** What a hosted page tells about its device. A fact that the browser does not tell, or that cannot be true, is absent. */
export interface DeviceReport {
  /** In CSS pixels. */
  readonly screenWidth?: number;
  readonly screenHeight?: number;
  /** Physical pixels for each CSS pixel. */
  readonly screenRatio?: number;
  readonly touchScreen?: boolean;
  readonly gpu?: string;
  /** In GiB. */
  readonly deviceMemory?: number;
  readonly deviceConcurrency?: number;
  readonly networkConnection?: string;
  /** In Mbit/s. */
  readonly networkBandwidth?: number;
  /** In milliseconds. */
  readonly networkRtt?: number;
}

/** The largest value of each number. Real devices stay far below. */
const numbersMax = {
  screenWidth: 100_000,
  screenHeight: 100_000,
  screenRatio: 100,
  deviceMemory: 1_024,
  deviceConcurrency: 1_024,
  networkBandwidth: 100_000,
  networkRtt: 100_000,
} as const satisfies Partial<Record<keyof DeviceReport, number>>;

const gpuLengthMax = 200;

/** Reads a report, which anybody can invent. Undefined when the value is no object. */
export function readReport(value: unknown): DeviceReport | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const sent = value as Readonly<Record<string, unknown>>;
  const { touchScreen, gpu, networkConnection } = sent;
  const numbers = Object.entries(numbersMax).flatMap(([name, max]) => {
    const number = sent[name];
    if (typeof number !== "number" || !(number > 0 && number <= max)) return [];
    return name === "deviceConcurrency" && !Number.isInteger(number) ? [] : [[name, number] as const];
  });
  return {
    ...Object.fromEntries(numbers),
    ...(typeof touchScreen === "boolean" && { touchScreen }),
    ...(typeof gpu === "string" && gpu !== "" && { gpu: plain(gpu.slice(0, gpuLengthMax)) }),
    ...(typeof networkConnection === "string" &&
      /^[a-z0-9-]{1,16}$/.test(networkConnection) && { networkConnection }),
  };
}

/** A text without control characters and without halves of characters, which PostgreSQL does not keep. */
function plain(text: string): string {
  return text.replace(/\p{Cc}/gu, " ").toWellFormed();
}
