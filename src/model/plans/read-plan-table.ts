import {
  type Allowed,
  defaultPlans,
  type Limits,
  type PlanTable,
  type PlanTerms,
  planIds,
} from "./plan-table.ts";

/** Counts are 32-bit numbers in messages. */
const numberMax = 2_147_483_647;

/**
 * Reads what a JSON document changes in the table of plans: `{"plans": {"FREE": {"limits": {"TRACKED_VISITS": 500}}}}`.
 * Adds a sentence to `problems` for each wrong field, which names it by its path.
 */
export function readPlanTable(json: unknown, inForce: boolean, problems: string[]): PlanTable {
  const reader = createReader(problems);
  const given = reader.object(
    json,
    "",
    Object.keys(defaultPlans).filter((key) => key !== "inForce"),
  );
  const plans = reader.object(given.plans, "plans", planIds);
  const trial = reader.object(given.trial, "trial", ["days", "limits"]);
  const sponsored = reader.object(given.sponsored, "sponsored", ["limits"]);
  const termsOf = (id: (typeof planIds)[number]) =>
    readTerms(reader, plans[id], `plans.${id}`, defaults(id, inForce));
  return {
    inForce,
    linkCreatedCreditCost: reader.count(
      given.linkCreatedCreditCost,
      "linkCreatedCreditCost",
      defaultPlans.linkCreatedCreditCost,
    ),
    trial: {
      days: reader.count(trial.days, "trial.days", defaultPlans.trial.days),
      limits: readLimits(reader, trial.limits, "trial.limits", {}),
    },
    sponsored: { limits: readLimits(reader, sponsored.limits, "sponsored.limits", {}) },
    contactUrl: reader.text(given.contactUrl, "contactUrl", defaultPlans.contactUrl),
    plans: {
      FREE: termsOf("FREE"),
      LIGHT: termsOf("LIGHT"),
      PRO: termsOf("PRO"),
      ENTERPRISE: termsOf("ENTERPRISE"),
    },
  };
}

/** Where plans are in force, ENTERPRISE is billed on the credits it uses. */
function defaults(id: (typeof planIds)[number], inForce: boolean): PlanTerms {
  const terms = defaultPlans.plans[id];
  if (id !== "ENTERPRISE" || !inForce) return terms;
  return { ...terms, limits: { ...terms.limits, PLATFORM_CREDITS: "metered" } };
}

type Reader = ReturnType<typeof createReader>;

function readTerms(reader: Reader, json: unknown, path: string, known: PlanTerms): PlanTerms {
  const given = reader.object(json, path, Object.keys(known));
  const countOf = (field: "leadScores" | "historyDays") => {
    const allowed = reader.allowed(given[field], `${path}.${field}`, known[field]);
    if (allowed !== "metered") return allowed;
    reader.refuse(`${path}.${field}`, 'a number or "unlimited"', allowed);
    return known[field];
  };
  return {
    name: reader.text(given.name, `${path}.name`, known.name),
    limits: readLimits(reader, given.limits, `${path}.limits`, known.limits),
    leadScores: countOf("leadScores"),
    brandFreePages: reader.flag(given.brandFreePages, `${path}.brandFreePages`, known.brandFreePages),
    historyDays: countOf("historyDays"),
  };
}

function readLimits<Known extends Partial<Limits>>(
  reader: Reader,
  json: unknown,
  path: string,
  known: Known,
): Known & Partial<Limits> {
  const given = reader.object(json, path, Object.keys(defaultPlans.plans.FREE.limits));
  const read = Object.entries(given).map(([key, value]) => {
    const allowed = reader.allowed(value, `${path}.${key}`, "unlimited");
    if (allowed === "metered" && key !== "PLATFORM_CREDITS")
      reader.refuse(
        `${path}.${key}`,
        "something else, because only PLATFORM_CREDITS can be metered",
        allowed,
      );
    return [key, allowed];
  });
  return { ...known, ...Object.fromEntries(read) };
}

/** Reads values of JSON, each with its default. A wrong value is told and stands for its default. */
function createReader(problems: string[]) {
  function refuse(path: string, wanted: string, value: unknown): void {
    const shown = JSON.stringify(value).slice(0, 100);
    problems.push(`PLANS_FILE: ${path === "" ? "the document" : path}: ${wanted}, not ${shown}`);
  }

  function checked<Value>(value: unknown, path: string, known: Value, wanted: string, fits: boolean): Value {
    if (value === undefined) return known;
    if (fits) return value as Value;
    refuse(path, wanted, value);
    return known;
  }

  const isCount = (value: unknown) =>
    typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= numberMax;

  return {
    refuse,
    /** The fields of an object, of which it may have only these. */
    object(value: unknown, path: string, keys: readonly string[]): Readonly<Record<string, unknown>> {
      if (value === undefined) return {};
      if (typeof value !== "object" || value === null || Array.isArray(value)) {
        refuse(path, "an object", value);
        return {};
      }
      const known = Object.entries(value).filter(([key]) => keys.includes(key));
      for (const key of Object.keys(value)) {
        if (!keys.includes(key))
          problems.push(
            `PLANS_FILE: ${path === "" ? "" : `${path}.`}${key.slice(0, 100)}: no such field; there are ${keys.join(", ")}`,
          );
      }
      return Object.fromEntries(known);
    },
    count: (value: unknown, path: string, known: number) =>
      checked(value, path, known, `a whole number from 0 to ${numberMax}`, isCount(value)),
    allowed: (value: unknown, path: string, known: Allowed): Allowed =>
      checked(
        value,
        path,
        known,
        `a whole number from 0 to ${numberMax}, "unlimited" or "metered"`,
        isCount(value) || value === "unlimited" || value === "metered",
      ),
    text: (value: unknown, path: string, known: string) =>
      checked(value, path, known, "a text", typeof value === "string"),
    flag: (value: unknown, path: string, known: boolean) =>
      checked(value, path, known, "true or false", typeof value === "boolean"),
  };
}
