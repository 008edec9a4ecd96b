import type { Registry } from "prom-client";
import type { ChangePlaces } from "../../api/http/change_places.ts";
import { registerSingle } from "./figures.ts";

type Places = Pick<ChangePlaces, "figures">;

/** Registers the places of requests that change something, and who finds none. */
export function registerPlaceMetrics(registry: Registry, places: Places): void {
  registerSingle(registry, {
    engine_http_changes_under_way: () => places.figures.underWay,
    engine_http_changes_crowded_seconds: () => (places.figures.crowdedMs ?? 0) / 1_000,
    engine_http_changes_refused_total: () => places.figures.refused,
  });
}

/** Tells that merchants' changes are refused, and since when. */
export function placeReasons(places: Places): string[] {
  const { underWay, accounts, refused, crowdedMs } = places.figures;
  if (crowdedMs === null) return [];
  return [
    `changes are refused for ${Math.ceil(crowdedMs / 1_000)} s as too many are under way: ` +
    `${underWay} of ${accounts} accounts, ${refused} were refused since the start`,
  ];
}
