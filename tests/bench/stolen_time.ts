/**
 * Time that the host of a virtual machine took from its cores, by Linux's /proc: the time in which
 * something here wanted a core and the host ran others on it. It is shown beside figures and never
 * taken out of them. A host that does not report it looks like one that took nothing.
 *
 * @module
 */

/** Time of all cores since the machine began, in ticks. */
export interface CoreTime {
  readonly all: number;
  readonly stolen: number;
}

/**
 * Reads the text of /proc/stat; null where it does not tell what was stolen.
 *
 * @see https://docs.kernel.org/filesystems/proc.html#miscellaneous-kernel-statistics-in-proc-stat
 */
export function parseCoreTime(text: string): CoreTime | null {
  const line = /^cpu +(\d+(?: \d+)*)/m.exec(text)?.[1];
  // user, nice, system, idle, iowait, irq, softirq, steal; guests' time comes after and is in user
  const ticks = line?.split(" ").map(Number).slice(0, 8) ?? [];
  const stolen = ticks[7];
  return stolen === undefined ? null : { all: ticks.reduce((sum, one) => sum + one, 0), stolen };
}

/** Time of all cores so far; null where there is no /proc. */
export async function coreTime(path = "/proc/stat"): Promise<CoreTime | null> {
  try {
    return parseCoreTime(await Deno.readTextFile(path));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

/** Share of the time between two looks that the host took, 0 to 1; null where it cannot be told. */
export function stolenShare(before: CoreTime | null, after: CoreTime | null): number | null {
  if (before === null || after === null) return null;
  const all = after.all - before.all;
  const stolen = after.stolen - before.stolen;
  // sandboxes show zeros for ever, and a machine that is moved may count anew
  return all > 0 && stolen >= 0 && stolen <= all ? stolen / all : null;
}

/** A share as the report shows it; "-" of NaN. */
export function percent(share: number): string {
  if (Number.isNaN(share)) return "-";
  return share > 0 && share < 0.01 ? "< 1 %" : `${Math.round(100 * share)} %`;
}
