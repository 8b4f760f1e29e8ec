import { browsers } from "./browsers.ts";
import { programs } from "./programs.ts";
import { requests } from "./requests.ts";
import type { Row } from "./row.ts";

/** The counting contract: every row promises customers how a request is counted. */
export const corpus: readonly Row[] = [...browsers, ...programs, ...requests];
