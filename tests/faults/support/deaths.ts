import { assertEquals } from "@std/assert";
import type { CrashPointName } from "../../../actors/runtime/crash_point.ts";
import type { Mortal } from "./mortal.ts";
import { bounded, MOST_DEATHS, patience, whileDying } from "./patience.ts";

/**
 * Does something while the service dies at one point after the other, as if by `kill -9`: the first
 * is armed before, each other one when the service starts again, so that what one death leaves half
 * done meets the next. After the last the service lives on.
 *
 * @param act goes on asking while no answer comes
 * @returns what `act` returned
 * @throws when one of the points was not passed
 */
export async function dieAt<T>(
  service: Mortal,
  points: readonly CrashPointName[],
  act: () => Promise<T>,
): Promise<T> {
  const [first, ...others] = points;
  if (first === undefined) throw new RangeError("Cannot die as no point is named");
  if (points.length > MOST_DEATHS) {
    throw new RangeError(`Cannot die more than ${MOST_DEATHS} times: the test would take too long`);
  }
  await service.arm(first);
  let startedAt = Date.now();
  const start = async (options: { readonly crashAt?: string } = {}) => {
    await service.start(options);
    startedAt = Date.now();
  };
  const deaths = async () => {
    await untilDead(service, first);
    for (const point of others) {
      await start({ crashAt: point });
      await untilDead(service, point);
    }
    await start();
  };
  // both are waited for, so that nothing goes on asking a service that is gone
  const [died, acted] = await Promise.allSettled([
    deaths(),
    whileDying(() => startedAt, act),
  ]);
  if (acted.status === "fulfilled" && died.status === "fulfilled") return acted.value;
  const reasons = [died, acted].flatMap((end) => end.status === "rejected" ? [end.reason] : []);
  throw reasons.length === 1
    ? reasons[0]
    : new AggregateError(reasons, reasons.map(String).join("; and "));
}

/**
 * Waits until the service has died at a crash point, `name` or `name@n`.
 *
 * @throws when it did not, which is to say that the point was not passed
 */
export async function untilDead(service: Mortal, point: string): Promise<void> {
  const what = `the death at ${point}`;
  const end = await bounded(what, service.ended, patience().deathMs);
  assertEquals(end, { code: 137, signal: "SIGKILL" }, `${point} was not passed`);
}
