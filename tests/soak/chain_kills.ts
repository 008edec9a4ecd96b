import type { Progress } from "./chain_customers.ts";
import { atMoments, momentsOf } from "./chain_moments.ts";
import type { Done } from "./chain_troubles.ts";
import type { SoakWorld } from "./chain_world.ts";

/** Kills, each when a certain part of the work is done. */
export async function kill(
  world: SoakWorld,
  progress: Progress,
  signal: AbortSignal,
  done: Done,
): Promise<void> {
  const { options, service, chain } = world;
  const draw = world.draws("kills");
  const moments = [
    ...momentsOf("service killed", options.kills, draw),
    ...momentsOf("chain's node killed", options.chainKills, draw),
    ...momentsOf("PostgreSQL killed", options.databaseKills, draw),
    ...momentsOf("anvil killed", options.anvilKills, draw),
  ];
  await atMoments(world, progress, signal, done, moments, async (what) => {
    switch (what) {
      case "service killed":
        await service.kill9();
        await service.start();
        return;
      case "PostgreSQL killed":
        return await service.killDatabase();
      case "anvil killed":
        return await chain.killAnvil();
      default:
        return await chain.killAndStart(500 + draw() * 2_000);
    }
  });
}
