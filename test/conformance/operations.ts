import { type DescMethodUnary, getOption } from "@bufbuild/protobuf";
import { ApiScopeSchema, access } from "../../gen/signpost/options/v1/access_pb.js";
import { scopeName } from "../../src/model/scope.ts";
import { type Binding, bindingsOf } from "../../src/rest/binding.ts";
import type { RegisteredService } from "../../src/rpc/handlers.ts";

/** An RPC of the interface and its REST form. */
export interface Operation {
  /** `LinksService.Create` */
  readonly name: string;
  readonly method: DescMethodUnary;
  readonly binding: Binding;
  readonly isBuilt: boolean;
  readonly access: "scope" | "open" | "memberSession";
  /** The public name of the scope, where one is needed: `links:write`. */
  readonly scope: string;
}

/** Every operation there is, from the services' own descriptors. */
export function operationsOf(services: readonly RegisteredService[]): Operation[] {
  return services.flatMap(({ service, unbuilt }) =>
    service.methods.map((method) => {
      const name = `${service.name}.${method.name}`;
      const [binding] = bindingsOf(method);
      if (binding === undefined) throw new Error(`${name} has no REST form`);
      const { kind } = getOption(method, access);
      if (kind.case === undefined) throw new Error(`${name} does not say who may call it`);
      const scope = kind.case === "scope" ? scopeName(ApiScopeSchema.value[kind.value]?.name ?? "") : "";
      return {
        name,
        method: binding.method,
        binding,
        isBuilt: !unbuilt.has(method.localName),
        access: kind.case,
        scope,
      };
    }),
  );
}
