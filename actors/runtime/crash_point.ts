/**
 * Named places where a test makes the process die as if by `kill -9`. Unarmed they cost one
 * comparison.
 *
 * @module
 */

/** Every place a process may die between two durable steps. */
export const CRASH_POINTS = [
  "journal.before-write",
  "journal.after-write",
  "treasury.after-pull",
  "treasury.after-promise",
  "treasury.after-sign",
  "treasury.after-commit",
  "treasury.after-broadcast",
  "treasury.after-replacement-sign",
  "treasury.after-cancel-commit",
  "watcher.after-seen",
  "watcher.after-inbox",
  "watcher.after-cursor",
  "sweeper.before-step",
  "sweeper.after-step",
  "addresses.after-watch",
  "webhook.after-claim",
  "webhook.after-send",
] as const;

/** One of {@linkcode CRASH_POINTS}. */
export type CrashPointName = (typeof CRASH_POINTS)[number];

let armed: CrashPointName | null = null;
let remaining = 0;
let dieHere: () => void = killProcess;

function killProcess(): void {
  Deno.kill(Deno.pid, "SIGKILL");
}

/**
 * Arms one crash point: the process kills itself when it is passed for the n-th time.
 *
 * @param spec `name` or `name@n`, for example `treasury.after-sign@2`
 * @param die what happens there, where a node shares its process with the test that kills it
 * @throws {RangeError} when there is no such point
 */
export function armCrashPoint(spec: string, die: () => void = killProcess): void {
  const [name, count] = spec.split("@");
  const point = CRASH_POINTS.find((known) => known === name);
  if (point === undefined) {
    throw new RangeError(`Cannot arm a crash point as it is unknown: ${spec}`);
  }
  armed = point;
  remaining = count === undefined ? 1 : Number(count);
  dieHere = die;
}

/** Dies here if this point is armed and due. */
export function crashPoint(name: CrashPointName): void {
  if (armed !== name || --remaining > 0) return;
  armed = null;
  dieHere();
}
