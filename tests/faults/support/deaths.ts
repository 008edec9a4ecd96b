import { assertEquals } from "@std/assert";
import type { CrashPointName } from "../../../actors/runtime/crash_point.ts";
import { START_MS } from "../../support/service.ts";
import type { Mortal } from "./mortal.ts";

/** Bound of one death, the leases that the one before it left behind included. */
const DEATH_MS = 180_000;
/** The most deaths in a row. */
const DEATHS = 6;

/**
 * Longer than the service may take to die so often and to recover after it, so that what waits
 * meanwhile never gives up before a death that failed has told of itself.
 */
export const LONGEST_DYING_MS = (DEATHS + 1) * (START_MS + DEATH_MS);

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
  if (points.length > DEATHS) {
    throw new RangeError(`Cannot die more than ${DEATHS} times: nobody waits for so long`);
  }
  await service.arm(first);
  const deaths = async () => {
    await untilDead(service, first);
    for (const point of others) {
      await service.start({ crashAt: point });
      await untilDead(service, point);
    }
    await service.start();
  };
  const [done] = await Promise.all([act(), deaths()]);
  return done;
}

/**
 * Waits until the service has died at a crash point, `name` or `name@n`.
 *
 * @throws when it did not, which is to say that the point was not passed
 */
export async function untilDead(service: Mortal, point: string): Promise<void> {
  const end = await within(DEATH_MS, service.ended);
  assertEquals(end, { code: 137, signal: "SIGKILL" }, `${point} was not passed`);
}

/** The promise's value, or `null` after a while. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<null>((resolve) => timer = setTimeout(() => resolve(null), ms));
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
