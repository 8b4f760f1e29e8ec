import { type RawBuilder, sql } from "kysely";
import { numberLengthMax } from "../model/visitors/attribute-operators.ts";

type Sql = RawBuilder<unknown>;

/** The characters that JavaScript's `trim` removes. */
const blanks =
  "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff";

export function trimmed(value: Sql): Sql {
  return sql`btrim(${value}, ${blanks})`;
}

/** The exact number that a text says, or null for any other text. A number that a float cannot hold counts as none. */
export function numericOf(value: Sql): Sql {
  return sql`(select case when abs(n) < 1.797693134862315e308 then n end
    from (select case when length(${value}) <= ${numberLengthMax} and ${value} ~ '^[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]{1,3})?$'
      then ${value}::numeric end) as parsed (n))`;
}

/**
 * The same as a float. The outer case keeps numbers that are too small for a float from the cast, which would fail the
 * statement.
 */
export function numberOf(value: Sql): Sql {
  return sql`(select case when abs(n) < 3e-324 then 0 else n::float8 end from (select ${numericOf(value)}) as exact (n))`;
}
