import type { Config } from "../../config/config.ts";
import { CURRENCIES, type Currency, type Network } from "../../../ledger/money/pair.ts";

/** A network that is signed for, with the contracts of its tokens. */
interface SignedFor {
  readonly network: Network;
  readonly contracts: { readonly [currency in Currency]?: string };
}

/**
 * The variables that have to name a token before anything is signed for it outside development: a
 * signer without caps signs away whatever a stolen database or service asks for.
 *
 * @returns one line for each missing cap
 */
export function uncapped(
  { environment, networks }: Pick<Config, "environment" | "networks">,
  signedFor: readonly SignedFor[],
): readonly string[] {
  if (environment === "development") return [];
  return signedFor.flatMap(({ network, contracts }) =>
    CURRENCIES.filter((currency) => contracts[currency] !== undefined).flatMap((currency) => {
      const { perTransaction, perDay } = networks[network].caps;
      const missing = `has no cap of ${currency}, which ${environment} needs`;
      return [
        ...(perTransaction[currency] === undefined
          ? [`${network}_SIGNER_PER_TRANSACTION ${missing}`]
          : []),
        ...(perDay[currency] === undefined ? [`${network}_SIGNER_PER_DAY ${missing}`] : []),
      ];
    })
  );
}
