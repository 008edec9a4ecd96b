import { assert, assertEquals } from "@std/assert";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { hmac } from "@noble/hashes/hmac.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { HDKey } from "@scure/bip32";
import { mnemonicToSeedSync } from "@scure/bip39";
import fc from "fast-check";
import {
  ACCOUNT_PATHS,
  addressEncoder,
  depositBranchPath,
  hotWalletPath,
  networkKeys,
  publicAccount,
  signingKey,
} from "../../chains/wallet/network_keys.ts";
import { NETWORKS } from "../../ledger/money/pair.ts";

const MNEMONIC =
  "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about";
const MASTER = HDKey.fromMasterSeed(mnemonicToSeedSync(MNEMONIC));
const ORDER = secp256k1.Point.Fn.ORDER;
/** Children and grandchildren that the attacker tries of each key. */
const TRIED = 4;

/** Public number that BIP-32 adds to a parent's private key for a child without hardening. */
function tweakOf(parent: HDKey, index: number): bigint {
  const { publicKey, chainCode } = parent;
  assert(publicKey !== null && chainCode !== null);
  const data = new Uint8Array(37);
  data.set(publicKey);
  new DataView(data.buffer).setUint32(33, index);
  return BigInt(`0x${hmac(sha512, chainCode, data).subarray(0, 32).toHex()}`);
}

/** The attack: a parent with its private key, from its public key and the private key of one child. */
function parentOf(parent: HDKey, index: number, child: Uint8Array): HDKey {
  const key = (BigInt(`0x${child.toHex()}`) + ORDER - tweakOf(parent, index) % ORDER) % ORDER;
  const { chainCode } = parent;
  assert(chainCode !== null);
  const privateKey = Uint8Array.fromHex(key.toString(16).padStart(64, "0"));
  return new HDKey({ privateKey, chainCode, depth: parent.depth, index: parent.index });
}

/** Private keys, as text, that follow from one: its children and theirs, hardened too. */
function* keysBelow(node: HDKey, depth: number): Generator<string> {
  yield node.privateKey?.toHex() ?? "";
  if (depth === 0) return;
  for (const first of [0, 1_000, 2 ** 31, 2 ** 31 + 1_000]) {
    for (let n = 0; n < TRIED; n++) yield* keysBelow(node.deriveChild(first + n), depth - 1);
  }
}

Deno.test("of the old form the account's public key and one deposit key gave the hot wallet's key", () => {
  const account = MASTER.derive("m/44'/195'/0'");
  const hot = account.deriveChild(1).deriveChild(0).privateKey?.toHex();
  const known = HDKey.fromExtendedKey(account.publicExtendedKey);
  const leaked = account.deriveChild(0).deriveChild(7).privateKey;
  assert(leaked !== null);
  const branch = parentOf(known.deriveChild(0), 7, leaked);
  const whole = parentOf(known, 0, branch.privateKey ?? new Uint8Array());
  assertEquals(whole.privateKey?.toHex(), account.privateKey?.toHex());
  assertEquals(whole.deriveChild(1).deriveChild(0).privateKey?.toHex(), hot);
});

Deno.test("the deposit branch's public key and a deposit key give the deposit branch and no hot wallet", () => {
  for (const network of ["TRX", "TRX_SHASTA"] as const) {
    const keys = networkKeys(MASTER, network);
    const hot = signingKey(keys, network, "hot");
    const known = HDKey.fromExtendedKey(publicAccount(keys, network).depositXpub);
    for (const index of [0, 7]) {
      const leaked = signingKey(keys, network, index).privateKey;
      const branch = parentOf(known, index, leaked);
      // the attack works as far as it can: all deposit keys are lost
      assertEquals(branch.privateKey?.toHex(), keys.deposits.privateKey?.toHex());
      assertEquals([...keysBelow(branch, 2)].includes(hot.privateKey.toHex()), false);
    }
  }
});

Deno.test("even with the public keys of the accounts, of which the service has none, the hot wallet is safe", () => {
  const deposits = MASTER.derive("m/44'/195'/0'");
  const branch = networkKeys(MASTER, "TRX").deposits;
  const whole = parentOf(
    HDKey.fromExtendedKey(deposits.publicExtendedKey),
    0,
    branch.privateKey ?? new Uint8Array(),
  );
  assertEquals(whole.privateKey?.toHex(), deposits.privateKey?.toHex());
  const hot = networkKeys(MASTER, "TRX").hot.privateKey?.toHex() ?? "";
  assertEquals([...keysBelow(whole, 2)].includes(hot), false);
  // a step further up it would be, which is why that step is hardened: the parent does not follow
  const coin = MASTER.derive("m/44'/195'");
  const guess = parentOf(HDKey.fromExtendedKey(coin.publicExtendedKey), 2 ** 31, whole.privateKey!);
  assert(guess.privateKey?.toHex() !== coin.privateKey?.toHex());
  assert(guess.derive("m/1000'/0/0").privateKey?.toHex() !== hot);
});

Deno.test("for any words the branch that follows from a leaked key derives no hot wallet", () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 32, maxLength: 32 }),
      fc.integer({ min: 0, max: 2 ** 31 - 1 }),
      (seed, index) => {
        const keys = networkKeys(HDKey.fromMasterSeed(seed), "TRX");
        const { depositXpub, hotWallet } = publicAccount(keys, "TRX");
        const leaked = signingKey(keys, "TRX", index).privateKey;
        const branch = parentOf(HDKey.fromExtendedKey(depositXpub), index, leaked);
        const encode = addressEncoder("TRX");
        // as the hot wallet lay under its account before, and as it lies now
        for (const path of ["m/1/0", "m/0/0", "m/0", "m/1000'/0/0"]) {
          const { publicKey } = branch.derive(path);
          assert(publicKey !== null && encode(publicKey) !== hotWallet);
        }
      },
    ),
    { numRuns: 20 },
  );
});

Deno.test("no hot wallet shares a step below a hardened one with deposit addresses of any network", () => {
  /** The last hardened node of a path: whatever lies below it can be walked back up to it. */
  const hardened = (path: string) => path.slice(0, path.lastIndexOf("'") + 1);
  const deposits = NETWORKS.map((network) => hardened(depositBranchPath(network)));
  const hot = NETWORKS.map((network) => hardened(hotWalletPath(network)));
  for (const place of hot) assertEquals(deposits.includes(place), false, place);
  // nor any two networks, nor a hot wallet with an account of the old form (0 to 3 of each coin)
  assertEquals(new Set([...deposits, ...hot]).size, 2 * NETWORKS.length);
  for (const network of NETWORKS) assert(ACCOUNT_PATHS[network].hot >= 1_000);
});
