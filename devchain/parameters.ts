/**
 * Prices and limits of the chain. The values are main net's of 2026 where one is known;
 * stake weights are fixed so that one staked TRX buys what it buys there.
 *
 * @module
 */

/** Sun in one TRX. */
export const SUN_PER_TRX = 1_000_000n;
/** Price of one unit of energy, sun (`getEnergyFee`). */
export const ENERGY_PRICE = 100n;
/** Price of one byte beyond the free bandwidth, sun (`getTransactionFee`). */
export const BYTE_PRICE = 1_000n;
/** Bytes an account may send for nothing within a day (`getFreeNetLimit`). */
export const FREE_NET_LIMIT = 600;
/** Burned when a TRX transfer creates its receiver, sun (`getCreateNewAccountFeeInSystemContract`). */
export const NEW_ACCOUNT_FEE = 1_000_000n;
/** Bandwidth price of creating an account without staked bandwidth, sun (`getCreateAccountFee`). */
export const NEW_ACCOUNT_NET_FEE = 100_000n;
/** Highest accepted fee limit, sun (`getMaxFeeLimit`). */
export const MAX_FEE_LIMIT = 15_000_000_000;
/** Largest transaction, bytes (java-tron, TRANSACTION_MAX_BYTE_SIZE). */
export const MAX_TRANSACTION_SIZE = 500 * 1024;
/** Largest block, bytes (java-tron, BLOCK_SIZE). */
export const MAX_BLOCK_SIZE = 2_000_000;
/** Farthest that an expiration may lie ahead of the head block (java-tron, MAXIMUM_TIME_UNTIL_EXPIRATION). */
export const MAX_EXPIRATION_MS = 24 * 60 * 60 * 1000;
/** Expiration of transactions that the node builds, after the head block's time. */
export const DEFAULT_EXPIRATION_MS = 60_000;
/** Waiting transactions from which the node answers SERVER_BUSY (java-tron, maxTransactionPendingSize). */
export const MAX_PENDING = 2_000;
/** Used bandwidth and energy come back linearly over this time. */
export const RECOVERY_MS = 24 * 60 * 60 * 1000;
/** Time for which unstaked TRX stays locked (`getUnfreezeDelayDays`). */
export const UNFREEZE_DELAY_MS = 14 * 24 * 60 * 60 * 1000;
/** Concurrent unstakings of one account (java-tron, UNFREEZE_MAX_TIMES). */
export const MAX_UNFREEZINGS = 32;

/** Energy and bandwidth the whole network's stake shares in a day, and that stake in TRX. */
export const TOTALS = {
  energyLimit: 180_000_000_000,
  energyWeight: 19_000_000_000,
  netLimit: 43_200_000_000,
  netWeight: 27_000_000_000,
} as const;

/** The answer of `getchainparameters`. */
export const CHAIN_PARAMETERS: readonly { readonly key: string; readonly value?: number }[] = [
  { key: "getMaintenanceTimeInterval", value: 21_600_000 },
  { key: "getAccountUpgradeCost", value: 9_999_000_000 },
  { key: "getCreateAccountFee", value: Number(NEW_ACCOUNT_NET_FEE) },
  { key: "getTransactionFee", value: Number(BYTE_PRICE) },
  { key: "getAssetIssueFee", value: 1_024_000_000 },
  { key: "getWitnessPayPerBlock", value: 8_000_000 },
  { key: "getCreateNewAccountFeeInSystemContract", value: Number(NEW_ACCOUNT_FEE) },
  { key: "getCreateNewAccountBandwidthRate", value: 1 },
  { key: "getAllowCreationOfContracts", value: 1 },
  { key: "getEnergyFee", value: Number(ENERGY_PRICE) },
  { key: "getMaxCpuTimeOfOneTx", value: 80 },
  { key: "getTotalEnergyLimit", value: TOTALS.energyLimit },
  { key: "getAllowMultiSign", value: 1 },
  { key: "getTotalEnergyCurrentLimit", value: TOTALS.energyLimit },
  { key: "getFreeNetLimit", value: FREE_NET_LIMIT },
  { key: "getTotalNetLimit", value: TOTALS.netLimit },
  { key: "getMaxFeeLimit", value: MAX_FEE_LIMIT },
  { key: "getAllowDynamicEnergy", value: 1 },
  { key: "getDynamicEnergyThreshold", value: 5_000_000_000 },
  { key: "getDynamicEnergyMaxFactor", value: 34_000 },
  { key: "getMemoFee" },
  { key: "getUnfreezeDelayDays", value: 14 },
  { key: "getMaxDelegateLockPeriod", value: 864_000 },
];
