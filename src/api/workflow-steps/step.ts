import type { JsonObject } from "@bufbuild/protobuf";
import type { StoredStep } from "../../model/workflow/workflow.ts";
import type { Workflow } from "../../model/workflow/workflow-graph.ts";
import type { Position } from "../../model/workflow/workflow-layout.ts";

/** A step with everything that is stored of it. */
export interface Step extends StoredStep {
  readonly payload: JsonObject;
  /** The JSON of the AttributeCapture message. Null when the step captures nothing. */
  readonly capture: JsonObject | null;
  readonly position: Position;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export type LinkWorkflow = Workflow<Step>;
