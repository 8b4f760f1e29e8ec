import {
  type DescField,
  type DescMessage,
  type DescMethod,
  type DescMethodUnary,
  getOption,
  hasOption,
} from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { http } from "../../gen/google/api/annotations_pb.js";
import {
  ApiScope,
  ApiScopeSchema,
  access,
  InSandbox,
  needs_full_access,
} from "../../gen/signpost/options/v1/access_pb.js";
import {
  answers_job,
  type Cost,
  cache_seconds,
  calls_per_minute_and_address,
  cost,
  outlives_client_seconds,
  private_cache_seconds,
} from "../../gen/signpost/options/v1/handling_pb.js";
import { fail, type Reason } from "../lib/errors.ts";
import { scopeName } from "../model/scope.ts";
import { retirementOf } from "./deprecation.ts";
import type { Handle, RegisteredService } from "./handlers.ts";
import { streamOf } from "./part-streams.ts";

/** The public names of all scopes. */
export const apiScopes: ReadonlySet<string> = new Set(
  ApiScopeSchema.values.flatMap((value) =>
    value.number === ApiScope.UNSPECIFIED ? [] : [scopeName(value.name)],
  ),
);

/** Who may call a method, as the method's options declare it. */
export interface MethodAccess {
  /** The public name of the scope that a caller needs; undefined when anyone may call. */
  readonly scope: string | undefined;
  /** Whether publishable tokens may call without it. */
  readonly publishable: boolean;
  /** Whether the caller has to be a member. */
  readonly memberSession: boolean;
  /** Whether members hold the scope whatever their role. */
  readonly everyRole: boolean;
  /** Whether the caller needs full access in addition to the scope. */
  readonly fullAccess: boolean;
  /** Why callers of a sandbox are refused. Undefined when they are not. */
  readonly refusedInSandbox: Reason | undefined;
  /** The fields of the request that only callers with full access may give. */
  readonly fullAccessFields: readonly DescField[];
}

/** Background work in an answer. */
export interface AnswersJob {
  /** The local name of the answer's field. */
  readonly field: string;
  /** Whether the call starts the work, or reads it. */
  readonly isStart: boolean;
}

/** What the pipeline knows of a method before its first call. */
export interface MethodPlan {
  readonly method: DescMethodUnary;
  /** `signpost.v1.LinksService/Create` */
  readonly name: string;
  readonly access: MethodAccess;
  /** Whether the method honours an idempotency key: those on POST, PUT and PATCH do. */
  readonly takesIdempotencyKey: boolean;
  readonly readsOnly: boolean;
  /** Whether answers hold secrets, so that stored ones are encrypted. */
  readonly answersSecrets: boolean;
  /** The `Cache-Control` header of successful answers, if the method declares one. */
  readonly cacheControl: string | undefined;
  /** Calls that one address may make in a minute; 0 when there is no such limit. */
  readonly callsPerMinute: number;
  readonly cost: Cost;
  /** Where the answer has background work, if it has. */
  readonly answersJob: AnswersJob | undefined;
  /** The headers that announce the method's retirement; empty when the method stays. */
  readonly retirement: Readonly<Record<string, string>>;
  /** How long a call may work without a client, in milliseconds; 0 when it ends with its client. */
  readonly outlivesClientMs: number;
  readonly handle: Handle;
}

/**
 * Plans every unary method. Throws when another method is no stream of one, and when a method does not declare who may call
 * it, or has no handler: the service then does not start.
 */
export function planMethods(services: readonly RegisteredService[]): Map<DescMethod, MethodPlan> {
  const plans = new Map<DescMethod, MethodPlan>();
  for (const registered of services) {
    for (const method of registered.service.methods) {
      if (streamOf(method) === undefined) plans.set(method, planMethod(method, registered));
    }
  }
  return plans;
}

function planMethod(method: DescMethod, { handlers, unbuilt }: RegisteredService): MethodPlan {
  const name = nameOf(method);
  if (!isUnary(method)) throw new Error(`${name}: only unary methods are served`);
  const own = Object.hasOwn(handlers, method.localName) ? handlers[method.localName] : undefined;
  const handle = own ?? (unbuilt.has(method.localName) ? refuseUnbuilt(name) : undefined);
  if (handle === undefined) throw new Error(`${name}: has no handler`);
  const isReading = method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS;
  return {
    method,
    name,
    access: methodAccess(method),
    takesIdempotencyKey: takesIdempotencyKey(method),
    readsOnly: isReading,
    answersSecrets: hasSecrets(method.output, new Set()),
    cacheControl: cacheControlOf(method),
    callsPerMinute: getOption(method, calls_per_minute_and_address),
    cost: getOption(method, cost),
    answersJob: getOption(method, answers_job) ? answersJobOf(method, !isReading) : undefined,
    retirement: retirementOf(method)?.headers ?? {},
    outlivesClientMs: 1000 * getOption(method, outlives_client_seconds),
    handle,
  };
}

function answersJobOf(method: DescMethodUnary, isStart: boolean): AnswersJob {
  const [field, ...others] = method.output.fields.filter(({ message }) =>
    message?.fields.some(({ name }) => name === "status_url"),
  );
  if (field === undefined || others.length > 0)
    throw new Error(`${nameOf(method)}: answers_job needs one field that has a status_url`);
  return { field: field.localName, isStart };
}

/** The `Cache-Control` of a method's successful answers. */
export function cacheControlOf(method: DescMethodUnary): string | undefined {
  const [shared, own] = [getOption(method, cache_seconds), getOption(method, private_cache_seconds)];
  if (shared > 0) return `public, max-age=${shared}`;
  return own > 0 ? `private, max-age=${own}` : undefined;
}

function refuseUnbuilt(name: string): Handle {
  return async () => {
    throw fail("UNIMPLEMENTED", "UNIMPLEMENTED", `${name} is not built yet`);
  };
}

function isUnary(method: DescMethod): method is DescMethodUnary {
  return method.methodKind === "unary";
}

/** Reads who may call a method. Throws when the method does not declare it, or declares a contradiction. */
export function methodAccess(method: DescMethodUnary): MethodAccess {
  const { kind, publishable, memberSession, everyRole, fullAccess, inSandbox } = getOption(method, access);
  const value = kind.case === "scope" ? ApiScopeSchema.value[kind.value] : undefined;
  const isOpen = kind.case === "open" && kind.value;
  if (!isOpen && (value === undefined || value.number === ApiScope.UNSPECIFIED))
    throw new Error(`${nameOf(method)}: must declare its access: a scope, or open`);
  const fullAccessFields = method.input.fields.filter((field) => getOption(field, needs_full_access));
  const refusedInSandbox = sandboxReasons[inSandbox];
  const isNarrowed = publishable || memberSession || everyRole || fullAccess || fullAccessFields.length > 0;
  if (isOpen && (isNarrowed || refusedInSandbox !== undefined))
    throw new Error(`${nameOf(method)}: an open method lets everybody call`);
  const scope = value && scopeName(value.name);
  return { scope, publishable, memberSession, everyRole, fullAccess, refusedInSandbox, fullAccessFields };
}

const sandboxReasons: Readonly<Record<InSandbox, Reason | undefined>> = {
  [InSandbox.UNSPECIFIED]: undefined,
  [InSandbox.NOT_AVAILABLE]: "NOT_AVAILABLE_IN_SANDBOX",
  [InSandbox.LIVE_CREDENTIAL_REQUIRED]: "LIVE_CREDENTIAL_REQUIRED",
};

function nameOf(method: DescMethod): string {
  return `${method.parent.typeName}/${method.name}`;
}

/** Whether a method honours an idempotency key: on POST, PUT and PATCH, and on writing RPCs without a REST form. */
export function takesIdempotencyKey(method: DescMethodUnary): boolean {
  if (!hasOption(method, http))
    return method.idempotency === MethodOptions_IdempotencyLevel.IDEMPOTENCY_UNKNOWN;
  return ["post", "put", "patch"].includes(getOption(method, http).pattern.case ?? "");
}

/** Whether a field holds a secret. */
export function isSecret(field: DescField): boolean {
  return field.proto.options?.debugRedact === true;
}

function hasSecrets(message: DescMessage, seen: Set<DescMessage>): boolean {
  if (seen.has(message)) return false;
  seen.add(message);
  return message.fields.some(
    (field) => isSecret(field) || (field.message !== undefined && hasSecrets(field.message, seen)),
  );
}
