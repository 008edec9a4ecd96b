import type { Signer } from "../../chains/signer.ts";
import type { ColdAddresses, Limit, Limits } from "../../chains/signer/signing_rules.ts";
import type { SignerNetwork } from "../../chains/family.ts";
import { signerPermissions } from "../../chains/signer/signer_settings.ts";
import { createSocketSigner, type SignerWallet } from "../../chains/signer/socket_client.ts";
import { fingerprintOf } from "../../chains/wallet/public_wallet.ts";
import { databaseAccess } from "../../ledger/database/database_url.ts";
import { CURRENCIES, NETWORKS } from "../../ledger/money/pair.ts";
import type { Config } from "../config/config.ts";
import { createWorkerSigner } from "../workers/worker_signer.ts";
import type { Wallet } from "./open_wallet.ts";
import { sharedUser, socketOwner } from "./signer_user.ts";

/** The signer as the service sees it. */
export interface ServiceSigner {
  readonly signer: Signer;
  /**
   * Waits until a worker signs; a process is not waited for.
   *
   * @throws {Error} when the worker does not start
   */
  ready(): Promise<void>;
  /** Reason for operators that nothing can be signed now; `null` while all is well. */
  trouble(): string | null;
  /** The wallet that its keys are of, as far as it is known. */
  wallet(): SignerWallet;
  close(): Promise<void>;
}

/**
 * Connects to the signer's process where one is configured, and begins to start a worker otherwise (in
 * development only, see config). A process that is away does not keep the service from starting:
 * payouts wait for it.
 */
export function openServiceSigner(
  config: Config,
  wallet: Wallet,
  databaseUrl: string,
  networks: readonly SignerNetwork[],
): ServiceSigner {
  const { socket } = config.signer;
  const isDevelopment = config.environment === "development";
  if (socket !== null) {
    const signer = createSocketSigner({
      path: socket,
      fingerprint: fingerprintOf(wallet.wallet),
      // a signer may start later than the service, and as another user than before
      ...(isDevelopment ? {} : {
        ownerFault: async () => sharedUser(Deno.uid(), await socketOwner(socket)),
      }),
    });
    return {
      signer,
      ready: () => Promise.resolve(),
      trouble: () => signer.trouble,
      // a development wallet was made here, by this very service
      wallet: () => isDevelopment && signer.wallet === "unknown" ? "same" : signer.wallet,
      close: () => signer.close(),
    };
  }
  const access = databaseAccess(databaseUrl);
  if (access === null) {
    throw new TypeError("Cannot restrict the signer as its database URL is malformed");
  }
  const settings = {
    databaseUrl,
    walletFile: wallet.walletFile,
    passphraseFile: wallet.passphraseFile,
    networks,
    limits: limitsOf(config),
    coldAddresses: coldAddressesOf(config),
  };
  const signer = createWorkerSigner({
    entry: new URL("../commands/signer_worker.ts", import.meta.url),
    settings,
    permissions: signerPermissions(settings, new URL("../../", import.meta.url), access),
  });
  return {
    signer,
    ready: async () => void await signer.ready(),
    trouble: () => null,
    // once ready: it starts only where the public part of its file is derived from its keys
    wallet: () => "same",
    close: () => signer.close(),
  };
}

/** The caps of every network, as the signer knows them. */
export function limitsOf(config: Config): Limits {
  const limits: Record<string, Limit> = {};
  for (const network of NETWORKS) {
    const { perTransaction, perDay } = config.networks[network].caps;
    for (const asset of [...CURRENCIES, "native"] as const) {
      const [once, daily] = [perTransaction[asset], perDay[asset]];
      if (once === undefined && daily === undefined) continue;
      limits[`${asset}/${network}`] = {
        ...(once === undefined ? {} : { perTransaction: once }),
        ...(daily === undefined ? {} : { perDay: daily }),
      };
    }
  }
  return limits;
}

/** The cold addresses that are configured. */
export function coldAddressesOf(config: Config): ColdAddresses {
  return Object.fromEntries(NETWORKS.flatMap((network) => {
    const { coldAddress } = config.networks[network];
    return coldAddress === null ? [] : [[network, coldAddress]];
  }));
}
