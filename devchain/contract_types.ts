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

export interface ContractType {
  readonly no: number;
  readonly name: string;
  readonly fields: readonly FieldType[];
}

/** Staking resources in the order of their enum numbers. */
export const RESOURCES = ["BANDWIDTH", "ENERGY"] as const;
/** One of {@linkcode RESOURCES}, which stake buys. */
export type Resource = (typeof RESOURCES)[number];

type Field = readonly [no: number, name: string, kind: FieldKind];

const OWNER: Field = [1, "owner_address", "address"];
const RECEIVER: Field = [4, "receiver_address", "address"];

function contractType(no: number, name: string, ...fields: Field[]): ContractType {
  return { no, name, fields: [OWNER, ...fields].map(([no, name, kind]) => ({ no, name, kind })) };
}

/** Every contract type the node executes. */
const CONTRACT_TYPES: readonly ContractType[] = [
  contractType(1, "TransferContract", [2, "to_address", "address"], [3, "amount", "int"]),
  contractType(
    31,
    "TriggerSmartContract",
    [2, "contract_address", "address"],
    [3, "call_value", "int"],
    [4, "data", "hex"],
    [5, "call_token_value", "int"],
    [6, "token_id", "int"],
  ),
  contractType(54, "FreezeBalanceV2Contract", [2, "frozen_balance", "int"], [
    3,
    "resource",
    "resource",
  ]),
  contractType(55, "UnfreezeBalanceV2Contract", [2, "unfreeze_balance", "int"], [
    3,
    "resource",
    "resource",
  ]),
  contractType(56, "WithdrawExpireUnfreezeContract"),
  contractType(
    57,
    "DelegateResourceContract",
    [2, "resource", "resource"],
    [3, "balance", "int"],
    RECEIVER,
    [5, "lock", "bool"],
    [6, "lock_period", "int"],
  ),
  contractType(
    58,
    "UnDelegateResourceContract",
    [2, "resource", "resource"],
    [3, "balance", "int"],
    RECEIVER,
  ),
];

/** The type with this name. */
export function contractTypeNamed(name: string): ContractType | undefined {
  return CONTRACT_TYPES.find((type) => type.name === name);
}

/** The type with this enum number. */
export function contractTypeNumbered(no: number): ContractType | undefined {
  return CONTRACT_TYPES.find((type) => type.no === no);
}
