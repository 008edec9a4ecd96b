/**
 * Receipts of kinds that no test chain makes, composed by hand after the public documentation of
 * java-tron's HTTP API (`gettransactioninfobyblocknum`, protobuf `TransactionInfo`) with all the
 * fields it names. They are not recordings of a live chain.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { addressToLogHex } from "../../chains/tron/address.ts";
import { fullBlockSchema, receiptsShape } from "../../chains/tron/read/answers.ts";
import { parseBlock } from "../../chains/tron/read/parse_block.ts";
import { amountOf } from "../../ledger/money/amount.ts";
import {
  approvalLog,
  block,
  BLOCK_TIME,
  contractCall,
  FAKE,
  HEIGHT,
  type Json,
  log,
  OURS,
  type Pair,
  PAYER,
  receipts,
  STRANGER,
  transferLog,
  txid,
  USDT,
  word,
} from "./support/block_fixture.ts";

const ROUTER = FAKE;

function parse(pairs: readonly Pair[]) {
  const shape = receiptsShape.safeParse(receipts(pairs));
  if (!shape.success) throw new Error("Cannot go on as the receipts have another shape");
  const answer = parseBlock(fullBlockSchema.parse(block(pairs)), shape.data, {
    tokens: new Map([
      [addressToLogHex(USDT), { currency: "USDT", unit: amountOf("0.000001") }],
    ]),
  });
  if (answer.kind !== "block") throw new Error(`Cannot go on as the block is ${answer.kind}`);
  return answer.block;
}

/** A contract call with other call data. */
function call(n: number, logs: readonly Json[], value: Json, receipt: Json = {}): Pair {
  const pair = contractCall(n, logs, { receipt });
  const raw = pair.transaction["raw_data"] as Json;
  const contract = {
    parameter: { value, type_url: "type.googleapis.com/protocol.TriggerSmartContract" },
    type: "TriggerSmartContract",
  };
  return {
    ...pair,
    transaction: { ...pair.transaction, raw_data: { ...raw, contract: [contract] } },
  };
}

/** A transaction that calls no contract: its receipt has neither result nor logs. */
function systemCall(n: number, type: string, value: Json, receipt: Json): Pair {
  const { transaction } = contractCall(n, []);
  const contract = { parameter: { value, type_url: `type.googleapis.com/protocol.${type}` }, type };
  const raw = transaction["raw_data"] as Json;
  return {
    transaction: { ...transaction, raw_data: { ...raw, contract: [contract] } },
    receipt: { id: txid(n), blockNumber: HEIGHT, blockTimeStamp: BLOCK_TIME, ...receipt },
  };
}

Deno.test("documented shapes: every way money moves or does not, in one block", () => {
  const owner = { owner_address: `41${addressToLogHex(STRANGER)}` };
  const pairs = [
    // transferFrom: a spender moves the payer's money; of the two events the approval does not count
    call(
      1,
      [transferLog(USDT, PAYER, OURS, 2_500_000), approvalLog(USDT, PAYER, STRANGER, 7)],
      {
        ...owner,
        data: `23b872dd${word(addressToLogHex(PAYER))}${word(addressToLogHex(OURS))}${
          word(2_500_000)
        }`,
        contract_address: `41${addressToLogHex(USDT)}`,
      },
      { contractResult: [word(1)] },
    ),
    // a router pays out of a pool: the call names another contract and another amount
    call(
      2,
      [
        transferLog(ROUTER, STRANGER, ROUTER, 9),
        log(
          ROUTER,
          [word("d78ad95fa46c994b6551d0da85fc275fe613ce37657fb8d5e3d130840159d822")],
          word(1),
        ),
        transferLog(USDT, ROUTER, OURS, 1_000_001),
      ],
      {
        ...owner,
        call_value: 5_000_000,
        data: "38ed1739",
        contract_address: `41${addressToLogHex(ROUTER)}`,
      },
      {
        contract_address: `41${addressToLogHex(ROUTER)}`,
        internal_transactions: [{
          hash: word(77),
          caller_address: `41${addressToLogHex(ROUTER)}`,
          transferTo_address: `41${addressToLogHex(USDT)}`,
          callValueInfo: [{}],
          note: "63616c6c",
        }],
        receipt: {
          energy_usage: 12_000,
          energy_fee: 1_234_500,
          origin_energy_usage: 500,
          energy_usage_total: 24_845,
          net_usage: 412,
          result: "SUCCESS",
        },
      },
    ),
    // address poisoning: anybody may call transferFrom with 0
    call(3, [transferLog(USDT, OURS, STRANGER, 0)], { ...owner, data: "23b872dd" }),
    // a batch by an airdrop contract, one of the transfers ours
    call(
      4,
      [1, 2, 3].map((n) => transferLog(USDT, STRANGER, n === 2 ? OURS : PAYER, n * 1_000_000)),
      { ...owner, data: "c73a2d60" },
    ),
    // paid by fee limit, nothing moved: `result` and the hex of its message
    contractCall(5, [transferLog(USDT, PAYER, OURS, 1)], {
      result: "OUT_OF_ENERGY",
      receipt: {
        resMessage:
          "4e6f7420656e6f75676820656e6572677920666f722027535741503227206f7065726174696f6e",
        contractResult: [""],
      },
    }),
    systemCall(6, "TransferAssetContract", { ...owner, amount: 5, asset_name: "31303030303031" }, {
      contractResult: [""],
      receipt: { net_usage: 284 },
      assetIssueID: "1000001",
    }),
    systemCall(7, "UnfreezeBalanceV2Contract", { ...owner, unfreeze_balance: 3 }, {
      contractResult: [""],
      unfreeze_amount: 3,
      withdraw_expire_amount: 1,
      cancel_unfreezeV2_amount: [{ key: "ENERGY", value: 0 }],
      receipt: {},
    }),
    systemCall(8, "CreateSmartContract", owner, {
      fee: 900_000,
      contract_address: `41${addressToLogHex(FAKE)}`,
      contractResult: ["6080"],
      receipt: { energy_fee: 900_000, energy_usage_total: 9_000, result: "SUCCESS" },
    }),
    // the receipt's own record is absent: protobuf leaves out what is empty
    systemCall(9, "VoteWitnessContract", { ...owner, votes: [] }, { contractResult: [""] }),
  ];
  const { transfers, transactions } = parse(pairs);
  assertEquals(
    transfers.filter(({ eventTo }) => eventTo === addressToLogHex(OURS)).map((
      { txid, logIndex, eventFrom, amount },
    ) => [
      txid,
      logIndex,
      eventFrom,
      amount,
    ]),
    [
      [txid(1), 0, addressToLogHex(PAYER), amountOf("2.5")],
      [txid(2), 2, addressToLogHex(ROUTER), amountOf("1.000001")],
      [txid(4), 1, addressToLogHex(STRANGER), amountOf("2")],
    ],
  );
  assertEquals(transactions.map(({ failure }) => failure), [
    null,
    null,
    null,
    null,
    "OUT_OF_ENERGY",
    null,
    null,
    null,
    null,
  ]);
  assertEquals(transactions[8]?.fee, amountOf("0"));
});

Deno.test("documented shapes: a block without receipts in the solid view is `{}` or `[]`, never whole", () => {
  for (const nothing of [{}, []]) {
    const shape = receiptsShape.safeParse(nothing);
    assertEquals(shape.success && shape.data, []);
  }
});
