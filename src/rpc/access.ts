import {
  type DescMessage,
  type DescMethod,
  type DescMethodUnary,
  getOption,
  hasOption,
} from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { http } from "../../gen/google/api/annotations_pb.js";
import { ApiScope, ApiScopeSchema, access } from "../../gen/signpost/options/v1/access_pb.js";
import { cache_seconds, calls_per_minute_and_address } from "../../gen/signpost/options/v1/handling_pb.js";
import { fail } from "../lib/errors.ts";
import { scopeName } from "../model/scope.ts";
import { retirementOf } from "./deprecation.ts";
import type { RegisteredService } from "./handlers.ts";

/** Public names of every scope there is. */
export const apiScopes: ReadonlySet<string> = new Set(
  ApiScopeSchema.values.flatMap((value) =>
    value.number === ApiScope.UNSPECIFIED ? [] : [scopeName(value.name)],
  ),
);

/** What the pipeline knows of a method before its first call. */
export interface MethodPlan {
  readonly method: DescMethodUnary;
  /** `signpost.v1.LinksService/Create` */
  readonly name: string;
  /** The scope a caller needs; undefined when anyone may call, or members only. */
  readonly scope: string | undefined;
  /** Whether only members may call, whatever their role. */
  readonly needsMember: boolean;
  /** Whether an idempotency key counts: on POST and PATCH that write. */
  readonly takesIdempotencyKey: boolean;
  /** Whether answers hold secrets, so that stored ones are encrypted. */
  readonly answersSecrets: boolean;
  /** `Cache-Control` of answers that are no errors, if any. */
  readonly cacheControl: string | undefined;
  /** Calls that one address may make in a minute; 0 when there is no such limit. */
  readonly callsPerMinute: number;
  /** Headers that tell that the method is going away, none when it stays. */
  readonly retirement: Readonly<Record<string, string>>;
  readonly handle: Handle;
}

type Handle = RegisteredService["handlers"][string];

/**
 * The plan of every method. Throws when a method is not unary, does not say who may call it, or has no handler: such a
 * service does not start.
 */
export function planMethods(services: readonly RegisteredService[]): Map<DescMethod, MethodPlan> {
  const plans = new Map<DescMethod, MethodPlan>();
  for (const registered of services) {
    for (const method of registered.service.methods) plans.set(method, planMethod(method, registered));
  }
  return plans;
}

function planMethod(method: DescMethod, { handlers, unbuilt }: RegisteredService): MethodPlan {
  const name = `${method.parent.typeName}/${method.name}`;
  if (!isUnary(method)) throw new Error(`${name}: only unary methods are served`);
  const own = Object.hasOwn(handlers, method.localName) ? handlers[method.localName] : undefined;
  const handle = own ?? (unbuilt.has(method.localName) ? refuseUnbuilt(name) : undefined);
  if (handle === undefined) throw new Error(`${name}: has no handler`);
  const cacheSeconds = getOption(method, cache_seconds);
  return {
    method,
    name,
    scope: declaredScope(method, name),
    needsMember: getOption(method, access).kind.case === "memberSession",
    takesIdempotencyKey: takesIdempotencyKey(method),
    answersSecrets: hasSecrets(method.output, new Set()),
    cacheControl: cacheSeconds === 0 ? undefined : `public, max-age=${cacheSeconds}`,
    callsPerMinute: getOption(method, calls_per_minute_and_address),
    retirement: retirementOf(method)?.headers ?? {},
    handle,
  };
}

function refuseUnbuilt(name: string): Handle {
  return async () => {
    throw fail("UNIMPLEMENTED", "UNIMPLEMENTED", `${name} is not built yet`);
  };
}

function isUnary(method: DescMethod): method is DescMethodUnary {
  return method.methodKind === "unary";
}

function declaredScope(method: DescMethodUnary, name: string): string | undefined {
  const { kind } = getOption(method, access);
  if ((kind.case === "open" || kind.case === "memberSession") && kind.value) return undefined;
  const value = kind.case === "scope" ? ApiScopeSchema.value[kind.value] : undefined;
  if (value === undefined || value.number === ApiScope.UNSPECIFIED)
    throw new Error(`${name}: must declare its access: a scope, open or member_session`);
  return scopeName(value.name);
}

/** Whether an idempotency key counts: on POST and PATCH that write, and on RPCs without REST form that write. */
export function takesIdempotencyKey(method: DescMethodUnary): boolean {
  if (method.idempotency !== MethodOptions_IdempotencyLevel.IDEMPOTENCY_UNKNOWN) return false;
  if (!hasOption(method, http)) return true;
  const { pattern } = getOption(method, http);
  return pattern.case === "post" || pattern.case === "patch";
}

function hasSecrets(message: DescMessage, seen: Set<DescMessage>): boolean {
  if (seen.has(message)) return false;
  seen.add(message);
  return message.fields.some(
    (field) =>
      field.proto.options?.debugRedact === true ||
      (field.message !== undefined && hasSecrets(field.message, seen)),
  );
}
