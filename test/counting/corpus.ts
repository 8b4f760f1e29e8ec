import { browsers } from "./browsers.ts";
import { programs } from "./programs.ts";
import { requests } from "./requests.ts";
import type { Row } from "./row.ts";

/** The counting contract: every row is a promise to customers about what becomes of a request. */
export const corpus: readonly Row[] = [...browsers, ...programs, ...requests];
