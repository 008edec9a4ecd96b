/**
 * The beginning of a new chain: its keys, its contracts, and who has money.
 *
 * @module
 */

import { encodeAbiParameters, getAddress, keccak256, toHex } from "viem";
import { english, generateMnemonic, mnemonicToAccount } from "viem/accounts";
import { SCRIPT_CODE, USDC_CODE, USDT_CODE } from "./contracts/code.ts";
import type { EvmNetwork } from "./networks.ts";
import { type Hex, quantity, word } from "./rpc.ts";

/** Contracts that every chain has, at the same addresses. */
export const CONTRACTS = {
  USDT: getAddress("0xde00000000000000000000000000000000000001"),
  USDC: getAddress("0xde00000000000000000000000000000000000002"),
  /** Takes several steps in one transaction. */
  script: getAddress("0xde00000000000000000000000000000000000003"),
} as const;

/** A chain's own facts, fixed before it has a first block. */
export interface Identity {
  /** Words of the faucet's key. */
  readonly mnemonic: string;
  /** Time of the first block, Unix seconds. */
  readonly time: number;
  /** By whom the first block was made: chance, so that no two chains have the same first block. */
  readonly miner: Hex;
  /** Address that has money from the first block on. */
  readonly treasury: Hex | null;
}

/** Gas of all transactions of a block at most. */
export const BLOCK_GAS = 30_000_000n;

const COIN = 10n ** 18n;
const TREASURY_COIN = 100n;
const TREASURY_TOKENS = 1_000_000n;
/** Tokens of the faucet, and as many of the script. */
const FAUCET_TOKENS = 1_000_000_000n;
/** Order of variables in Tokens.sol. */
const SLOT = { totalSupply: 0n, balanceOf: 1n, flags: 3n, ownerAndDecimals: 4n } as const;
/**
 * Contracts of the protocol that write into the state with every block. They do nothing here: anvil counts
 * the root of the whole state anew for every block, and would take ever longer for it.
 */
const SILENCED = [
  "0x0000f90827f1c53a10cb7a02335b175320002935",
  "0x000f3df6d732807ef1319fb7b8bb8522d0beac02",
] as const;
const STOP = "0x00";
const NOTHING = word(0);

/** Facts of a new chain. @param treasury checked address, or null */
export function newIdentity(treasury: Hex | null, now: number): Identity {
  return {
    mnemonic: generateMnemonic(english),
    time: Math.floor(now / 1_000),
    miner: toHex(crypto.getRandomValues(new Uint8Array(20))),
    treasury,
  };
}

/** Place in a token's storage that says how calls of an address fare. */
export function fateSlot(sender: Hex): Hex {
  return slotOf(sender, SLOT.flags);
}

/** The first block in the form of a geth genesis file. */
export function genesisOf(identity: Identity, network: EvmNetwork): unknown {
  const faucet = mnemonicToAccount(identity.mnemonic).address;
  const { treasury, time, miner } = identity;
  const unit = 10n ** BigInt(network.decimals);
  const holders: [Hex, bigint][] = [
    [faucet, FAUCET_TOKENS * unit],
    [CONTRACTS.script, FAUCET_TOKENS * unit],
    ...(treasury === null ? [] : [[treasury, TREASURY_TOKENS * unit] satisfies [Hex, bigint]]),
  ];
  const storage: Record<Hex, Hex> = {
    [word(SLOT.totalSupply)]: word(holders.reduce((sum, [, amount]) => sum + amount, 0n)),
    [word(SLOT.ownerAndDecimals)]: word(BigInt(network.decimals) << 160n | BigInt(faucet)),
    ...Object.fromEntries(
      holders.map(([holder, amount]) => [slotOf(holder, SLOT.balanceOf), word(amount)]),
    ),
  };
  const contract = (code: Hex, kept: Record<Hex, Hex> = {}) => ({
    balance: "0x0",
    nonce: "0x1",
    code,
    storage: kept,
  });
  return {
    config: { chainId: network.chainId },
    nonce: "0x0",
    timestamp: quantity(time),
    extraData: "0x",
    gasLimit: quantity(BLOCK_GAS),
    difficulty: "0x0",
    mixHash: NOTHING,
    coinbase: miner,
    baseFeePerGas: quantity(network.baseFee),
    number: "0x0",
    gasUsed: "0x0",
    parentHash: NOTHING,
    alloc: {
      [CONTRACTS.USDT]: contract(USDT_CODE, storage),
      [CONTRACTS.USDC]: contract(USDC_CODE, storage),
      [CONTRACTS.script]: contract(SCRIPT_CODE),
      ...Object.fromEntries(SILENCED.map((address) => [address, contract(STOP)])),
      ...(treasury === null ? {} : { [treasury]: { balance: quantity(TREASURY_COIN * COIN) } }),
    },
  };
}

function slotOf(key: Hex, slot: bigint): Hex {
  return keccak256(
    encodeAbiParameters([{ type: "address" }, { type: "uint256" }], [getAddress(key), slot]),
  );
}
