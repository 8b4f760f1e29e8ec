import type { DescMethodUnary, DescService } from "@bufbuild/protobuf";
import { type Binding, bindingsOf } from "../../src/rest/binding.ts";
import { methodAccess } from "../../src/rpc/access.ts";
import type { RegisteredService } from "../../src/rpc/handlers.ts";
import { streamOf } from "../../src/rpc/part-streams.ts";

/** Operations after which the caller's token is refused. */
export const endsCaller: ReadonlySet<string> = new Set(["WorkspacesService.Delete"]);

/** An RPC of the interface and its REST form. */
export interface Operation {
  /** `LinksService.Create` */
  readonly name: string;
  readonly method: DescMethodUnary;
  readonly binding: Binding;
  readonly access: "scope" | "open" | "memberSession";
  /** The public name of the scope, if the operation needs one: `links:write`. */
  readonly scope: string;
  /** Whether the operation needs full access in addition to the scope. */
  readonly fullAccess: boolean;
}

/** The unary methods. A stream is another form of one of them. */
function unaryOf({ methods }: DescService): DescService["methods"] {
  return methods.filter((method) => streamOf(method) === undefined);
}

/** All operations, from the services' own descriptors. */
export function operationsOf(services: readonly RegisteredService[]): Operation[] {
  return services.flatMap(({ service }) =>
    unaryOf(service).map((method) => {
      const name = `${service.name}.${method.name}`;
      const [binding] = bindingsOf(method);
      if (binding === undefined) throw new Error(`${name} has no REST form`);
      const { scope = "", memberSession, fullAccess } = methodAccess(binding.method);
      return {
        name,
        method: binding.method,
        binding,
        access: memberSession ? "memberSession" : scope === "" ? "open" : "scope",
        scope,
        fullAccess,
      };
    }),
  );
}
