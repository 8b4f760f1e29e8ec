import type { AttributeType } from "../workflow/attribute-capture.ts";
import { parseBoolean, parseDate, parseNumber } from "./attribute-operators.ts";

/**
 * What an attribute's text means as the type that it was captured as. Nothing where the text does not read as that
 * type.
 */
export interface AttributeMeaning {
  readonly number?: number;
  readonly boolean?: boolean;
  readonly date?: Date;
}

export function meaningOf(type: AttributeType, value: string): AttributeMeaning {
  switch (type) {
    case "NUMBER": {
      const number = parseNumber(value);
      return number === undefined ? {} : { number };
    }
    case "BOOLEAN": {
      const boolean = parseBoolean(value);
      return boolean === undefined ? {} : { boolean };
    }
    case "DATE": {
      const date = momentOf(value);
      return date === undefined || date < firstTimestamp ? {} : { date };
    }
    case "STRING":
    case "ENUM":
      return {};
  }
}

/** 0001-01-01, the first day that a protobuf timestamp can hold. */
const firstTimestamp = new Date(-62_135_596_800_000);

// A day becomes its first moment in UTC, because a timestamp holds only moments.
function momentOf(value: string): Date | undefined {
  const date = parseDate(value);
  return date && (date.at ?? new Date(new Date(0).setUTCFullYear(date.year, date.month - 1, date.day)));
}
