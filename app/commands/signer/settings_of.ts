import { dirname, resolve } from "node:path";
import { SERVED_NETWORKS } from "../../../chains/families.ts";
import { requireOwnerOnly } from "../../../chains/wallet/secret_file.ts";
import { amountOf } from "../../../ledger/money/amount.ts";
import { CURRENCIES, type Currency, type Network } from "../../../ledger/money/pair.ts";
import type { Config } from "../../config/config.ts";
import { mayBeDevelopment } from "../../config/nodes.ts";
import { contractsOf, rehearses } from "../../open/open_chains.ts";
import { openConfiguredWallet } from "../../open/open_wallet.ts";
import { coldAddressesOf, limitsOf } from "../../open/service_signer.ts";
import type { ProcessSettings } from "./process_settings.ts";
import { groupNumber, makeSocketFolder } from "./socket_folder.ts";

/**
 * Settings of the signer's process; makes the folders it works in where they are missing. It
 * signs for every network that its wallet has an account of.
 *
 * @throws {Error} when the wallet or its passphrase's file cannot be used, or a cap is missing outside
 *   development; for the operator
 */
export async function settingsOf(config: Config): Promise<ProcessSettings> {
  const { socket, socketGroup, stateDir, databaseUrl } = config.signer;
  const { walletFile, walletPassphraseFile: passphraseFile } = config;
  if (
    socket === null || stateDir === null || databaseUrl === null || walletFile === null ||
    passphraseFile === null
  ) throw new Error("Cannot tell a signer's settings as they are those of the service");
  const wallet = await openConfiguredWallet(config, walletFile);
  try {
    await requireOwnerOnly(passphraseFile, "passphrase");
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    throw new Error(`Cannot sign as WALLET_PASSPHRASE_FILE names no file: ${passphraseFile}`);
  }
  const networks = SERVED_NETWORKS.filter((network) => wallet.networks[network] !== undefined)
    .map((network) => ({ network, contracts: contractsOf(config, network, null) }));
  const faults = uncapped(config, networks);
  if (faults.length > 0) throw new Error(`Cannot sign without caps:\n  ${faults.join("\n  ")}`);
  const group = socketGroup === null ? null : await groupNumber(socketGroup);
  await Deno.mkdir(stateDir, { recursive: true, mode: 0o700 });
  await makeSocketFolder(dirname(socket), group);
  return {
    databaseUrl: databaseUrl.reveal(),
    walletFile: resolve(walletFile),
    passphraseFile: resolve(passphraseFile),
    networks: networks.map((one) => {
      const { nodeUrls, treasury, sweeps } = config.networks[one.network];
      return {
        ...one,
        feeCap: amountOf(treasury.feeCap),
        // a development chain has a number of its own, and makes blocks on demand, at any time
        isDevelopment: mayBeDevelopment(config.environment, nodeUrls),
        isRehearsal: rehearses(config, one.network),
        ...(sweeps.by === null ? {} : { sweepBy: sweeps.by }),
      };
    }),
    limits: limitsOf(config),
    coldAddresses: coldAddressesOf(config),
    socket,
    socketGroup: group,
    stateDir,
    environment: config.environment,
    logLevel: config.logLevel,
  };
}

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
function uncapped(
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
