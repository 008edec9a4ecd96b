/**
 * Processor time of a PostgreSQL server, from Linux's /proc. On a machine that others use as well
 * the time per row says more than rows per second.
 *
 * @module
 */

/** Clock ticks are 1/100 s on every Linux that Deno runs on. */
const TICK_US = 10_000;

/**
 * Processor time of a server and its children so far, microseconds; null where there is no /proc.
 *
 * @param postmaster process id of the server; null: it is not ours to look at
 */
export async function serverTimeUs(postmaster: number | null): Promise<number | null> {
  if (postmaster === null || Deno.build.os !== "linux") return null;
  let ticks = 0;
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = await Deno.readTextFile(`/proc/${name}/stat`);
      // the name in parentheses may hold spaces; the fields after it do not
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      const parent = Number(fields[1]);
      if (parent !== postmaster && Number(name) !== postmaster) continue;
      ticks += Number(fields[11]) + Number(fields[12]);
      // the postmaster's dead children
      if (Number(name) === postmaster) ticks += Number(fields[13]) + Number(fields[14]);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound || isGone(error)) continue;
      throw error;
    }
  }
  return ticks * TICK_US;
}

/** Processor time of one process so far, microseconds; null where there is no /proc. */
export async function cpuUsOf(pid: number): Promise<number | null> {
  if (Deno.build.os !== "linux") return null;
  const stat = await Deno.readTextFile(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_US;
}

/** True when a process ended between the listing of the folder and the reading of its file. */
function isGone(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ESRCH";
}
