import type { Model } from "../../assistant/model.ts";
import type { FactsOf } from "../../assistant/tools.ts";
import type { Deps } from "../deps.ts";

/** What the operations of the assistant are given. */
export interface AssistantDeps extends Pick<Deps, "now" | "entitlements" | "pictures"> {
  /** The model behind the assistant. Undefined when none is configured. */
  readonly model: Model | undefined;
  /** Loads what is known of operations as tools. */
  readonly toolFacts: () => Promise<FactsOf>;
  /** Whether a host is one of the service's own, to which an answer may link. */
  readonly isOwnHost: (host: string) => boolean;
}
