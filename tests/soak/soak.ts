/**
 * Long runs of the real service under seeded trouble, each with an independent auditor at its end:
 * `deno task soak <name> [options]`. They take minutes, so they are not among the tests.
 *
 * @module
 */

/** One kind of run. */
export interface Soak {
  /** Its options, for the command line. */
  readonly USAGE: string;
  /** Runs it to its end. Answers the exit code: 0, or 1 when something was lost, doubled or wrong. */
  readonly run: (args: readonly string[]) => Promise<number>;
}

/** Every kind of run, loaded when it is asked for. */
const SOAKS: Readonly<Record<string, () => Promise<Soak>>> = {
  abuse: () => import("./abuse.ts"),
  chain: () => import("./chain.ts"),
  deaths: () => import("./deaths.ts"),
  failover: () => import("./failover.ts"),
  lanes: () => import("./lanes.ts"),
  webhooks: () => import("./webhooks.ts"),
};

const [name = "", ...args] = Deno.args;
const load = Object.hasOwn(SOAKS, name) ? SOAKS[name] : undefined;
if (load === undefined) {
  // deno-lint-ignore no-console -- usage is read on the terminal
  console.error(`Use: deno task soak ${Object.keys(SOAKS).join("|")} [options]`);
  Deno.exit(2);
}
const soak = await load();
try {
  Deno.exit(await soak.run(args));
} catch (error) {
  // deno-lint-ignore no-console -- the error is read on the terminal
  console.error(error);
  if (error instanceof TypeError) {
    // deno-lint-ignore no-console -- usage is read on the terminal
    console.error(soak.USAGE);
  }
  Deno.exit(1);
}
