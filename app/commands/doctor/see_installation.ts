import { holdsWords, openPublicWallet } from "../../../chains/wallet/public_wallet.ts";
import type { Config } from "../../config/config.ts";
import { requireApart } from "../../open/signer_user.ts";
import { askStatus } from "../signer/ask_status.ts";
import {
  type Facts,
  type FolderFacts,
  look,
  type Seen,
  unseen,
  type WalletFacts,
} from "./facts.ts";
import { readSettings } from "./read_settings.ts";
import { seeDatabase } from "./see_database.ts";
import { seeNodes } from "./see_nodes.ts";
import { seeRates } from "./see_rates.ts";
import { seeDescriptors, seeFront, seeService } from "./see_service.ts";

/** Bound of what is read of files, milliseconds. */
const FILE_MS = 3_000;
/** Bound of the question to the signer, milliseconds; it asks its database before it answers. */
const SIGNER_MS = 8_000;

/**
 * Looks at everything the checks rest on, each thing apart, with a bound, and without changing anything.
 *
 * @param env variables of the service
 */
export async function seeInstallation(
  env: Readonly<Record<string, string | undefined>>,
): Promise<Facts> {
  const settings = readSettings(env);
  const { config } = settings;
  const { socket } = config.signer;
  const [folder, front, database, wallet, apart, signer, nodes, service, rates] = await Promise.all(
    [
      seeFolder(config.dataDir),
      seeFront(config),
      seeDatabase(config),
      seeWallet(config),
      seeApart(config, env.WALLET_PASSPHRASE_FILE),
      socket === null
        ? unseen("SIGNER_SOCKET is not set")
        : look(SIGNER_MS, () => askStatus(socket)),
      seeNodes(config),
      seeService(config),
      seeRates(config),
    ],
  );
  const descriptors = await seeDescriptors(config, service.url);
  const now = Date.now();
  return {
    settings,
    now,
    folder,
    descriptors,
    front,
    service,
    database,
    wallet,
    apart,
    signer,
    nodes,
    rates,
  };
}

async function seeFolder(path: string): Promise<Seen<FolderFacts>> {
  return await look(FILE_MS, async () => {
    const { mode, uid } = await Deno.stat(path);
    return {
      path,
      mode: mode === null ? null : mode & 0o777,
      isOwn: uid === null || uid === Deno.uid(),
    };
  });
}

async function seeWallet({ walletFile, dataDir }: Config): Promise<Seen<WalletFacts>> {
  const file = walletFile ?? `${dataDir}/wallet.json`;
  return await look(FILE_MS, async () => {
    try {
      return { file, wallet: await openPublicWallet(file), hasWords: await holdsWords(file) };
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
      throw new Error(`WALLET_FILE names no file: ${file}`);
    }
  });
}

/** As the service looks at its start; this command has to run as its user. */
async function seeApart(
  { signer, dataDir }: Config,
  passphrase: string | undefined,
): Promise<Seen<null>> {
  const { socket } = signer;
  if (socket === null) return unseen("SIGNER_SOCKET is not set: the service has the keys itself");
  return await look(FILE_MS, async () => {
    const secrets = [`${dataDir}/wallet-passphrase`, ...(passphrase ? [passphrase] : [])];
    const user = Deno.uid();
    const isRoot = user === 0;
    await requireApart({ socket, secrets, user: isRoot ? null : user });
    // nothing is learnt about the service's user
    if (isRoot) throw new Error("this command runs as root, as the service must not");
    return null;
  });
}
