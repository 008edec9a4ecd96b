/**
 * The wallet file: an encrypted mnemonic, and in the clear what the rest of the service needs
 * (extended public keys of deposit branches, hot wallet addresses).
 *
 * The public part is confidential (see `../deposit_branch.ts`) and must not be exchanged unnoticed: it is
 * authenticated with the ciphertext, and unlocking derives it again and compares.
 *
 * @module
 */

import { z } from "zod";
import { NETWORKS } from "../../ledger/money/pair.ts";
import { depositBranch } from "../deposit_branch.ts";
import { removeIfThere, syncEntryOf, writeDurably } from "../durable_file.ts";
import { requireOwnerOnly, WalletFault } from "./secret_file.ts";

const base64 = (bytes: number) =>
  z.base64().refine((text) => atob(text).length === bytes, `must be ${bytes} bytes`);

/** Form of the files; a later one has hot wallets or families of keys that this program cannot use. */
export const WALLET_VERSION = 2;
/** The form whose hot wallet shared an account with the deposit addresses. */
const OLD_VERSION = 1;

const accountIndex = z.int().min(0).max(2 ** 31 - 1);

const networkSchema = z.strictObject({
  /** Family of keys, which tells how addresses are derived; others will come with their chains. */
  kind: z.literal("secp256k1"),
  /** Account of the deposit addresses in the derivation path. */
  depositAccount: accountIndex,
  /** Extended public key of the deposit branch alone; confidential. */
  depositXpub: z.string().regex(/^xpub[1-9A-HJ-NP-Za-km-z]{100,120}$/).refine(
    isDepositBranch,
    "must be the key of a deposit branch",
  ),
  /** Account of the hot wallet in the derivation path. */
  hotAccount: accountIndex,
  /** Address that payouts leave from. */
  hotWallet: z.string().min(20).max(64),
});
/** One network of a wallet without its secrets. */
export type PublicAccount = z.infer<typeof networkSchema>;

/** A wallet without its secrets. */
export const publicPartSchema = z.strictObject({
  walletId: z.string().regex(/^wal_[0-9a-f-]{36}$/),
  /** True if a first start in development made it; nothing else uses such a one. */
  development: z.boolean(),
  networks: z.partialRecord(z.enum(NETWORKS), networkSchema),
});

/** Everything the ciphertext is bound to. */
const headerSchema = publicPartSchema.extend({
  format: z.literal("payment-wallet"),
  version: z.literal(WALLET_VERSION),
  createdAt: z.iso.datetime(),
  kdf: z.strictObject({
    name: z.literal("scrypt"),
    // Bounded: a prepared file must not make unlocking eat the memory.
    N: z.int().min(2 ** 14).max(2 ** 18),
    r: z.int().min(8).max(16),
    p: z.int().min(1).max(8),
    salt: base64(32),
  }),
});
/** See {@linkcode readWalletFile}. */
export type WalletHeader = z.infer<typeof headerSchema>;

export const walletFileSchema = headerSchema.extend({
  cipher: z.strictObject({
    name: z.literal("AES-256-GCM"),
    iv: base64(12),
    ciphertext: z.base64().max(4096),
  }),
});
/** A parsed wallet file. */
export type WalletFile = z.infer<typeof walletFileSchema>;

/** Says what is wrong with wallets of the old form, and the way out; files and databases are refused with it. */
export const OLD_FORM =
  "of the old form, whose hot wallet is lost with one deposit key: move to a new wallet and database " +
  '(docs/wallet.md, "Moving from an old wallet"; in development begin with a new DATA_DIR)';

const oldFormSchema = z.object({
  format: z.enum(["payment-wallet", "payment-wallet-public"]),
  version: z.literal(OLD_VERSION),
});

function isOldForm(json: unknown): boolean {
  return oldFormSchema.safeParse(json).success;
}

function isDepositBranch(xpub: string): boolean {
  try {
    depositBranch(xpub);
    return true;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return false;
  }
}

/** A JSON text in which the order of keys plays no part. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const entries = Object.entries(value).filter(([, item]) => item !== undefined)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => `${JSON.stringify(key)}:${canonical(item)}`);
  return `{${entries.join(",")}}`;
}

/** The additional data that AES-GCM authenticates: everything but the cipher. */
export function authenticatedData(header: WalletHeader): Uint8Array<ArrayBuffer> {
  const { format, version, walletId, createdAt, development, networks, kdf } = header;
  return new TextEncoder().encode(
    canonical({ format, version, walletId, createdAt, development, networks, kdf }),
  );
}

/**
 * Reads and checks a wallet file; nothing is decrypted.
 *
 * @throws {Deno.errors.NotFound} when there is none
 * @throws {WalletFault} when it is malformed, of the old form, or other users may read or change it
 */
export async function readWalletFile(file: string): Promise<WalletFile> {
  return await readAs(file, walletFileSchema);
}

/**
 * Reads a file of a wallet as one of its kinds.
 *
 * @throws {Deno.errors.NotFound} when there is none
 * @throws {WalletFault} when it is malformed, of the old form, or other users may read or change it
 */
export async function readAs<T>(file: string, schema: z.ZodType<T>): Promise<T> {
  await requireOwnerOnly(file, "wallet");
  let json: unknown;
  try {
    json = JSON.parse(await Deno.readTextFile(file));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new WalletFault(`Cannot use the wallet as it is not JSON: ${file}`);
  }
  if (isOldForm(json)) throw new WalletFault(`Cannot use the wallet as it is ${OLD_FORM}: ${file}`);
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw new WalletFault(
    `Cannot use the wallet as ${
      issue?.path.join(".") || "it"
    } is wrong (${issue?.message}): ${file}`,
  );
}

/**
 * Writes a new wallet file: whole or not at all, durable, readable by its owner only.
 *
 * @throws {Deno.errors.AlreadyExists} when the file exists; a wallet is never overwritten, it may
 *   hold the only copy of a key
 */
export async function writeWalletFile(file: string, wallet: WalletFile): Promise<void> {
  const temporary = `${file}.${crypto.randomUUID()}.tmp`;
  try {
    {
      using handle = await Deno.open(temporary, { write: true, createNew: true, mode: 0o600 });
      await writeDurably(handle, JSON.stringify(wallet, null, 2) + "\n");
    }
    // A link, unlike a rename, fails where the name is taken.
    await Deno.link(temporary, file);
    await syncEntryOf(file);
  } finally {
    await removeIfThere(temporary);
  }
}

/**
 * Exchanges a wallet file for another form of the same wallet: at every moment, also of a death of the
 * process or the machine, the name has the earlier file or the later one, whole. The earlier one is kept.
 * User, group and mode stay what they were.
 *
 * @param earlier what the file was when it was read
 * @param later has every account of the earlier one, unchanged
 * @param check of the written file before it takes the name; it throws where the file is of no use
 * @returns where the earlier file is kept
 * @throws {WalletFault} when the file is not the earlier one any more, or the later one is another wallet
 */
export async function replaceWalletFile(
  file: string,
  earlier: WalletFile,
  later: WalletFile,
  check: (written: string) => Promise<void>,
): Promise<string> {
  // of a link, what it names is exchanged: a rename would put the file in the link's place
  const target = await Deno.realPath(file);
  requireSameWallet(target, earlier, later);
  using handle = await Deno.open(target, { read: true });
  // one at a time: a process that waited here finds another file under the name
  await handle.lock(true);
  const [locked, named] = [await handle.stat(), await Deno.stat(target)];
  if (locked.ino !== named.ino || canonical(await readWalletFile(target)) !== canonical(earlier)) {
    throw new WalletFault(`Cannot change the wallet as its file was changed meanwhile: ${target}`);
  }
  const temporary = `${target}.new`;
  // a process that died may have left it; no other makes one while the lock is held
  await removeIfThere(temporary);
  try {
    {
      using fresh = await Deno.open(temporary, { write: true, createNew: true, mode: 0o600 });
      await Deno.chown(temporary, named.uid, named.gid);
      if (named.mode !== null) await Deno.chmod(temporary, named.mode & 0o777);
      await writeDurably(fresh, JSON.stringify(later, null, 2) + "\n");
    }
    await check(temporary);
    const backup = `${target}.before-${new Date().toISOString().replaceAll(/[-:]|\.\d+/g, "")}`;
    await keepAs(target, backup);
    await syncEntryOf(backup);
    await Deno.rename(temporary, target);
    await syncEntryOf(target);
    return backup;
  } finally {
    await removeIfThere(temporary);
  }
}

/** @throws {WalletFault} where the later file is of another wallet, or lacks or changes an account */
function requireSameWallet(file: string, earlier: WalletFile, later: WalletFile): void {
  const changed = NETWORKS.filter((network) =>
    earlier.networks[network] !== undefined &&
    canonical(earlier.networks[network]) !== canonical(later.networks[network] ?? null)
  );
  if (later.walletId === earlier.walletId && changed.length === 0) return;
  throw new WalletFault(
    `Cannot change the wallet as another one would take its place: ${file} (${later.walletId})`,
  );
}

/** Gives a file a second name, which it may have already. @throws {WalletFault} when another file has it */
async function keepAs(file: string, name: string): Promise<void> {
  try {
    await Deno.link(file, name);
  } catch (error) {
    if (!(error instanceof Deno.errors.AlreadyExists)) throw error;
    // a process that died a moment ago may have given it
    if ((await Deno.lstat(name)).ino === (await Deno.stat(file)).ino) return;
    throw new WalletFault(
      `Cannot keep the earlier wallet as the name is taken, wait a second: ${name}`,
    );
  }
}
