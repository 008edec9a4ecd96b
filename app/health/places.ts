import type { Registry } from "prom-client";
import type { ChangePlaces } from "../../api/http/change_places.ts";
import type { ClaimPlaces } from "../../api/http/claim_places.ts";
import type { SharedPlaces } from "../../api/http/shared_places.ts";
import type { Network } from "../../ledger/money/pair.ts";
import { registerFigures, registerSingle } from "./figures.ts";

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

/** Registers the places of claims of the networks that are configured. */
export function registerClaimMetrics(
  registry: Registry,
  claims: Pick<ClaimPlaces, "figures">,
  networks: () => Iterable<Network>,
): void {
  const byNetwork = () =>
    [...networks()].map((network) => [network, claims.figures(network)] as const);
  registerFigures(registry, byNetwork, {
    engine_claims_under_way: ({ underWay }) => underWay,
    engine_claims_refused_total: ({ refused }) => refused,
  });
}

/** Tells on which networks claims are refused as others take long, and since when. */
export function claimReasons(
  claims: Pick<ClaimPlaces, "figures">,
  networks: Iterable<Network>,
): string[] {
  return [...networks].flatMap((network) => {
    const { underWay, refused, crowdedMs } = claims.figures(network);
    if (crowdedMs === null) return [];
    return [
      `${network} refuses claims for ${
        Math.ceil(crowdedMs / 1_000)
      } s as those under way take long: ` +
      `${underWay}, ${refused} were refused since the start`,
    ];
  });
}

/** Places of hosted pages and of redeliveries. */
export interface Shared {
  readonly pages: Pick<SharedPlaces, "figures">;
  readonly redeliveries: Pick<SharedPlaces, "figures">;
}

const KINDS = ["pages", "redeliveries"] as const satisfies readonly (keyof Shared)[];

/** Registers the places of hosted pages and of redeliveries. */
export function registerSharedMetrics(registry: Registry, shared: Shared): void {
  const byKind = () => KINDS.map((kind) => [kind, shared[kind].figures] as const);
  registerFigures(registry, byKind, {
    engine_http_places_under_way: ({ underWay }) => underWay,
    engine_http_places_refused_total: ({ refused }) => refused,
  });
}

/** Tells which of them are refused as those under way take long, and since when. */
export function sharedReasons({ pages, redeliveries }: Shared): string[] {
  const [page, redelivery] = [pages.figures, redeliveries.figures];
  const reasons: string[] = [];
  if (page.crowdedMs !== null) {
    reasons.push(
      `hosted pages are refused for ${
        Math.ceil(page.crowdedMs / 1_000)
      } s as those under way take long: ` +
        `${page.underWay}, ${page.refused} were refused since the start`,
    );
  }
  if (redelivery.crowdedMs !== null) {
    reasons.push(
      `redeliveries are refused for ${
        Math.ceil(redelivery.crowdedMs / 1_000)
      } s as those under way take long: ` +
        `${redelivery.underWay}, ${redelivery.refused} were refused since the start`,
    );
  }
  return reasons;
}
