import { textOf } from "../json-fields.ts";
import type { AttributeOperator } from "../visitors/attribute-operators.ts";
import { operatorNamed } from "../visitors/attribute-operators.ts";
import { conditionFacts, type NamedChoice, namedOf } from "./conditions.ts";

export interface VisitorDataChoice extends NamedChoice {
  /** The attribute's key. Reserved ones begin with `$`. */
  readonly attributeKey: string;
  /** Undefined matches nobody. */
  readonly operator: AttributeOperator | undefined;
  readonly comparisonValue: string;
}

/** VISITOR_DATA_CONDITION: what is known of the visitor. */
export const visitorDataCondition = conditionFacts({
  name: "visitorDataCondition",
  list: "options",
  branch: { id: "id", label: "attributeKey", isOrdered: false },
  read: (choice): VisitorDataChoice => ({
    ...namedOf(choice),
    attributeKey: textOf(choice.attributeKey),
    operator: operatorNamed(textOf(choice.operator)),
    comparisonValue: textOf(choice.comparisonValue),
  }),
  lackOf: ({ operator, attributeKey }) =>
    operator === undefined ? { name: attributeKey, what: "operator" } : undefined,
  lookups: ["visitor"],
});
