/** Bare values of the contract's `ExportFormat`. */
export type ExportFormat = "CSV" | "NDJSON" | "PARQUET";

/** The end of the names of files, by format. */
export const exportEndings: Readonly<Record<ExportFormat, string>> = {
  CSV: "csv.gz",
  NDJSON: "ndjson.gz",
  PARQUET: "parquet",
};

/** How long the file of an export is kept, in milliseconds. */
export const exportKeptMs = 7 * 24 * 60 * 60 * 1000;

/** How many exports a workspace has at a time. */
export const exportsMax = 20;

/** The most bytes of a file: as many as one request of S3 takes. */
export const exportBytesMax = 5_000_000_000;

/** After so many interrupted runs an export is given up. */
export const exportRunsMax = 5;
