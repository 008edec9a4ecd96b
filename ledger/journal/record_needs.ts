import type { Network } from "../money/pair.ts";

/** A record by id. */
export interface RecordNeed {
  readonly merchantId: string;
  readonly id: string;
}

/** Records that the messages of a batch speak of. */
export interface RecordNeeds {
  readonly withdrawals: readonly RecordNeed[];
  /** References that new withdrawals want. */
  readonly references: readonly { readonly merchantId: string; readonly referenceId: string }[];
  readonly deposits: readonly RecordNeed[];
  /** Deposits by their transfer. */
  readonly transfers: readonly {
    readonly merchantId: string;
    readonly network: Network;
    readonly txid: string;
    readonly logIndex: number;
  }[];
  /** Transactions of which one deposit is read, whatever their number: that there is one is what counts. */
  readonly claims: readonly {
    readonly merchantId: string;
    readonly network: Network;
    readonly txid: string;
  }[];
  readonly addressIds: readonly RecordNeed[];
  readonly addresses: readonly {
    readonly merchantId: string;
    readonly network: Network;
    readonly address: string;
  }[];
  readonly identifiers: readonly {
    readonly merchantId: string;
    readonly network: Network;
    readonly identifier: string;
  }[];
  readonly topUps: readonly { readonly merchantId: string; readonly network: Network }[];
  readonly settlements: readonly RecordNeed[];
  /** The latest settlement made under a key. */
  readonly settlementKeys: readonly { readonly merchantId: string; readonly key: string }[];
  /** Addresses of whitelists by their ids. */
  readonly settlementAddresses: readonly RecordNeed[];
  /** Addresses that may be on a merchant's whitelist. */
  readonly destinations: readonly {
    readonly merchantId: string;
    readonly network: Network;
    readonly address: string;
  }[];
  /** Merchants whose whitelist is counted. */
  readonly whitelists: readonly string[];
  readonly ingested: readonly string[];
  /** Transactions that may have paid a withdrawal already. */
  readonly payments: readonly { readonly network: Network; readonly txid: string }[];
}

/** One field of all keys, as a parameter of `unnest`. */
export function column<K extends string>(
  rows: readonly { readonly [field in K]: string }[],
  field: K,
): string[] {
  return rows.map((row) => row[field]);
}
