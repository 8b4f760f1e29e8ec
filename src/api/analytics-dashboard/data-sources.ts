import { type DescMessage, type DescMethodUnary, type DescService, getOption } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { http } from "../../../gen/google/api/annotations_pb.js";
import { AnalyticsDataService } from "../../../gen/signpost/v1/analytics_data_service_pb.js";
import { MetricsService } from "../../../gen/signpost/v1/metrics_service_pb.js";
import { TimeSeriesService } from "../../../gen/signpost/v1/time_series_service_pb.js";

/** An operation that can provide the numbers of a widget. */
export interface DataSource {
  /** The path at which clients call it. */
  readonly endpoint: string;
  readonly httpMethod: "GET" | "POST";
  readonly method: DescMethodUnary;
  /** The field that is the whole answer over REST. Undefined where the whole message is. */
  readonly answerField: DescMethodUnary["output"]["fields"][number] | undefined;
  /** What clients of REST see as the answer. */
  readonly answer: DescMessage;
  readonly takesDateRange: boolean;
  readonly takesInterval: boolean;
}

/** The paths that widgets may name. */
const allowedPaths = /^\/v1\/(?:analytics\/|metrics\/|timeseries\/events$)/;

/** The data sources by their endpoints. */
export const dataSources: ReadonlyMap<string, DataSource> = new Map(
  sourcesOf([AnalyticsDataService, MetricsService, TimeSeriesService]).map((source) => [
    source.endpoint,
    source,
  ]),
);

/** The operations of these services that only read, at a path without variables. */
function sourcesOf(services: readonly DescService[]): DataSource[] {
  return services.flatMap(({ methods }) => methods.flatMap((method) => sourceOf(method) ?? []));
}

function sourceOf(method: DescService["methods"][number]): DataSource | undefined {
  if (!isUnary(method)) return undefined;
  const { pattern, responseBody } = getOption(method, http);
  const isGet = pattern.case === "get";
  if (!isGet && pattern.case !== "post") return undefined;
  const endpoint = pattern.value;
  const reads = method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
  if (!reads || endpoint.includes("{") || !allowedPaths.test(endpoint)) return undefined;
  const answerField = method.output.fields.find(({ name }) => name === responseBody);
  const has = (name: string) => method.input.fields.some((field) => field.name === name);
  return {
    endpoint,
    httpMethod: isGet ? "GET" : "POST",
    method,
    answerField,
    answer: answerField?.message ?? method.output,
    takesDateRange: has("start_date") && has("end_date"),
    takesInterval: has("interval_in_minutes"),
  };
}

function isUnary(method: DescService["methods"][number]): method is DescMethodUnary {
  return method.methodKind === "unary";
}
