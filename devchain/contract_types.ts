/**
 * The contract types this node executes, as data: number, message name and fields, from TRON's
 * `core/Tron.proto` and `core/contract/*.proto`.
 *
 * @module
 */

/** Forms of a field on the wire and in JSON. */
export type FieldKind = "address" | "hex" | "int" | "bool" | "resource";

/** One field of a contract's message. */
export interface FieldType {
  readonly no: number;
  readonly name: string;
  readonly kind: FieldKind;
}

/** One contract type. */
export interface ContractType {
  readonly no: number;
  readonly name: string;
  readonly fields: readonly FieldType[];
}

/** Staking resources in the order of their enum numbers. */
export const RESOURCES = ["BANDWIDTH", "ENERGY"] as const;
/** One of {@linkcode RESOURCES}, which stake buys. */
export type Resource = (typeof RESOURCES)[number];

const owner: FieldType = { no: 1, name: "owner_address", kind: "address" };

/** Every contract type the node executes. */
const CONTRACT_TYPES: readonly ContractType[] = [
  {
    no: 1,
    name: "TransferContract",
    fields: [owner, { no: 2, name: "to_address", kind: "address" }, {
      no: 3,
      name: "amount",
      kind: "int",
    }],
  },
  {
    no: 31,
    name: "TriggerSmartContract",
    fields: [
      owner,
      { no: 2, name: "contract_address", kind: "address" },
      { no: 3, name: "call_value", kind: "int" },
      { no: 4, name: "data", kind: "hex" },
      { no: 5, name: "call_token_value", kind: "int" },
      { no: 6, name: "token_id", kind: "int" },
    ],
  },
  {
    no: 54,
    name: "FreezeBalanceV2Contract",
    fields: [owner, { no: 2, name: "frozen_balance", kind: "int" }, {
      no: 3,
      name: "resource",
      kind: "resource",
    }],
  },
  {
    no: 55,
    name: "UnfreezeBalanceV2Contract",
    fields: [owner, { no: 2, name: "unfreeze_balance", kind: "int" }, {
      no: 3,
      name: "resource",
      kind: "resource",
    }],
  },
  { no: 56, name: "WithdrawExpireUnfreezeContract", fields: [owner] },
  {
    no: 57,
    name: "DelegateResourceContract",
    fields: [
      owner,
      { no: 2, name: "resource", kind: "resource" },
      { no: 3, name: "balance", kind: "int" },
      { no: 4, name: "receiver_address", kind: "address" },
      { no: 5, name: "lock", kind: "bool" },
      { no: 6, name: "lock_period", kind: "int" },
    ],
  },
  {
    no: 58,
    name: "UnDelegateResourceContract",
    fields: [
      owner,
      { no: 2, name: "resource", kind: "resource" },
      { no: 3, name: "balance", kind: "int" },
      { no: 4, name: "receiver_address", kind: "address" },
    ],
  },
];

/** The type with this name. */
export function contractTypeNamed(name: string): ContractType | undefined {
  return CONTRACT_TYPES.find((type) => type.name === name);
}

/** The type with this enum number. */
export function contractTypeNumbered(no: number): ContractType | undefined {
  return CONTRACT_TYPES.find((type) => type.no === no);
}
