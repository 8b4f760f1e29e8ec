import type { StepChoice } from "../../model/steps/kinds.ts";
import { asksForEmptiness, matchesAttribute } from "../../model/visitors/attribute-operators.ts";
import { elseBranchId } from "../../model/workflow/workflow.ts";
import { outcomeOf } from "./condition.ts";
import type { StepKindOf } from "./step.ts";

/**
 * VISITOR_DATA_CONDITION: what is known of the visitor. Who has no profile, or not this attribute, matches only the
 * operators that ask for emptiness.
 */
export const visitorDataCondition: StepKindOf<"VISITOR_DATA_CONDITION"> = {
  explain(step, branchId, { attributes }) {
    const seen = step.payload.choices.map(({ attributeKey }) => {
      const value = attributes?.get(attributeKey);
      return value === undefined
        ? `${attributeKey} is not known`
        : `${attributeKey} is ${JSON.stringify(value)}`;
    });
    return [...new Set(seen), outcomeOf("option", step, branchId)].join("; ");
  },

  enter(step, { attributes }, { timezone }) {
    const matched = step.payload.choices.map((choice) =>
      matches(choice, attributes?.get(choice.attributeKey), timezone),
    );
    const branchId = step.payload.choices[matched.indexOf(true)]?.branchId ?? elseBranchId;
    const options = step.payload.choices.map((choice, index) => ({
      attributeKey: choice.attributeKey,
      operator: `ATTRIBUTE_OPERATOR_${choice.operator ?? "UNSPECIFIED"}`,
      comparisonValue: choice.comparisonValue,
      attributeFound: attributes?.has(choice.attributeKey) ?? false,
      observedValue: attributes?.get(choice.attributeKey) ?? "",
      matched: matched[index] ?? false,
      hasRoute: step.next.has(choice.branchId),
    }));
    const hasElse = step.next.has(elseBranchId);
    return { kind: "branch", branchId, data: { visitorDataCondition: { options, hasElse } } };
  },
};

function matches(
  { operator, comparisonValue }: StepChoice<"VISITOR_DATA_CONDITION">,
  value: string | undefined,
  timezone: string,
): boolean {
  if (operator === undefined) return false;
  if (value === undefined) return asksForEmptiness(operator);
  return matchesAttribute(operator, value, comparisonValue, timezone);
}
