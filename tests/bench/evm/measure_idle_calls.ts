import { withDatabase } from "../../support/database.ts";
import { callsOfDay, startIdleService } from "../../evm/support/idle_service.ts";
import type { EvmMeasurement } from "./evm_report.ts";

/** The time that is passed, simulated: even minutes, as fees are looked at every other one. */
const MINUTES = { ETH: 20, BNB: 8 } as const;
/** The most that providers are to be asked in a day. */
const ASKED = { ETH: 45_000, BNB: 460_000 } as const;

/** Calls of a service to its node while nothing is paid, on a clock that goes from one poll to the next at once. */
export async function measureIdleCalls(): Promise<readonly EvmMeasurement[]> {
  const found: EvmMeasurement[] = [];
  for (const network of ["ETH", "BNB"] as const) {
    const minutes = MINUTES[network];
    const { counted } = await withDatabase(async (database) => {
      const journalSql = database.connect({ max: 2, looksUpOnly: true });
      await using idle = await startIdleService(database.sql, journalSql, network);
      return await idle.pass(minutes);
    });
    found.push({
      name: `calls a day while idle, ${network}`,
      value: callsOfDay(counted, minutes),
      asked: { most: ASKED[network] },
    });
  }
  return found;
}
