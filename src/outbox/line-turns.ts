import type { Taking } from "./lines.ts";
import { dropReady, type SendingLine } from "./sending-line.ts";

/*
 * A process owns a bounded number of lines. So that receivers that fail or have much waiting cannot keep all of them for
 * ever, failing receivers get half of the lines, and whoever is full gives lines back by turns.
 */

/** How many lines a process owns at most, of all workspaces and of one, and how many of each may be failing. */
const linesMax = 512;
const linesOfWorkspaceMax = 64;
const failingMax = linesMax / 2;
const failingOfWorkspaceMax = linesOfWorkspaceMax / 2;

/** How long a line stays when others may be waiting for its place, in milliseconds. */
const turnMs = 5_000;

/** Which lines the process can take beside those that it owns. */
export function roomFor(lines: Iterable<SendingLine>): Taking {
  const all = [...lines];
  const failing = all.filter(({ isFailing }) => isFailing);
  return {
    most: linesMax - all.length,
    failingMost: failingMax - failing.length,
    exceptWorkspaces: fullWorkspaces(all, linesOfWorkspaceMax),
    exceptFailingOf: fullWorkspaces(failing, failingOfWorkspaceMax),
  };
}

/**
 * Ends the turns of lines whose places others may need: of failing ones that are too many at once, and of those that had
 * their turn. A line that leaves begins nothing more, and is given back when its attempts under way are written.
 */
export function endTurns(lines: Iterable<SendingLine>, nowMs: number): void {
  const all = [...lines].sort((a, b) => a.takenMs - b.takenMs);
  const failing = all.filter(({ isFailing }) => isFailing);
  endSome(failing, { most: failingMax, nowMs });
  for (const own of ofWorkspaces(failing)) endSome(own, { most: failingOfWorkspaceMax, nowMs });
  endSome(all, { most: linesMax, nowMs });
  for (const own of ofWorkspaces(all)) endSome(own, { most: linesOfWorkspaceMax, nowMs });
}

/** Ends turns among lines in the order in which they were taken. */
function endSome(
  lines: readonly SendingLine[],
  { most, nowMs }: { readonly most: number; readonly nowMs: number },
): void {
  const staying = lines.filter(({ isLeaving }) => !isLeaving);
  if (staying.length < most) return;
  for (const [index, line] of staying.entries()) {
    if (index >= staying.length - most && nowMs - line.takenMs < turnMs) continue;
    line.isLeaving = true;
    dropReady(line);
  }
}

function fullWorkspaces(lines: readonly SendingLine[], most: number): readonly string[] {
  return ofWorkspaces(lines).flatMap((own) => (own.length >= most && own[0] ? own[0].workspaceId : []));
}

function ofWorkspaces(lines: readonly SendingLine[]): readonly SendingLine[][] {
  return [...Map.groupBy(lines, ({ workspaceId }) => workspaceId).values()];
}
