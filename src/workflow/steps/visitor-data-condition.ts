import { matchesAttribute } from "../../model/visitors/attribute-operators.ts";
import { elseBranchId } from "../../model/workflow/workflow.ts";
import { outcomeOf } from "./condition.ts";
import type { StepKindOf } from "./step.ts";

/** VISITOR_DATA_CONDITION: what is known of the visitor. A visitor without a profile has no attributes. */
export const visitorDataCondition: StepKindOf<"VISITOR_DATA_CONDITION"> = {
  explain(step, branchId, { attributes }) {
    const seen = step.payload.choices.map(({ attributeKey }) => {
      const value = attributes?.get(attributeKey)?.value;
      return value === undefined
        ? `${attributeKey} is not known`
        : `${attributeKey} is ${JSON.stringify(value)}`;
    });
    return [...new Set(seen), outcomeOf("option", step, branchId)].join("; ");
  },

  enter(step, { attributes }, { timezone }) {
    const matched = step.payload.choices.map(
      ({ operator, attributeKey, comparisonValue }) =>
        operator !== undefined &&
        matchesAttribute(operator, attributes?.get(attributeKey), comparisonValue, timezone),
    );
    const branchId = step.payload.choices[matched.indexOf(true)]?.branchId ?? elseBranchId;
    const options = step.payload.choices.map((choice, index) => ({
      attributeKey: choice.attributeKey,
      operator: choice.operator ?? "",
      comparisonValue: choice.comparisonValue,
      attributeFound: attributes?.has(choice.attributeKey) ?? false,
      observedValue: attributes?.get(choice.attributeKey)?.value ?? "",
      matched: matched[index] ?? false,
      hasRoute: step.next.has(choice.branchId),
    }));
    const hasElse = step.next.has(elseBranchId);
    return { kind: "branch", branchId, data: { visitorDataCondition: { options, hasElse } } };
  },
};
