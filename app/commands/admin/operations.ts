import { record, table } from "./table.ts";
import { given, type Verb } from "./verb.ts";

function decide(verb: "confirm" | "fail" | "cancel", help: string): Verb {
  return {
    name: `deposits ${verb}`,
    args: ["id"],
    options: { reason: { type: "string" } },
    help,
    run: async (client, [id], options) =>
      record(
        await client.send(
          "POST",
          `/api/admin/deposits/${id}/${verb}`,
          given(options, { reason: "reason" }),
        ),
      ),
  };
}

function activation(verb: "activate" | "deactivate", help: string): Verb {
  return {
    name: `addresses ${verb}`,
    args: ["id"],
    options: {},
    help,
    run: async (client, [id]) =>
      record(await client.send("POST", `/api/admin/settlement-addresses/${id}/${verb}`)),
  };
}

function inboxVerb(
  verb: "retry" | "acknowledge" | "discard",
  help: string,
  fields: Readonly<Record<string, string>>,
): Verb {
  return {
    name: `inbox ${verb}`,
    args: ["merchant-id", "network/txid/log/phase"],
    options: Object.fromEntries(Object.values(fields).map((name) => [name, { type: "string" }])),
    help,
    run: async (client, [merchantId, row = ""], options) => {
      const [network, txid, log, phase] = row.split("/");
      return record(
        await client.send("POST", `/api/admin/inbox/${verb}`, {
          merchantId,
          network,
          txid,
          logIndex: Number(log),
          phase,
          ...given(options, fields),
        }),
      );
    },
  };
}

/** What can be done with deposits by hand, settlement addresses, resellers, rows quarantined and blocks. */
export const OPERATION_VERBS: readonly Verb[] = [
  {
    name: "deposits list",
    args: [],
    options: { merchant: { type: "string" } },
    help: "the deposits booked by hand that wait for a decision",
    run: async (client, _args, options) => {
      const query = new URLSearchParams(given(options, { merchantId: "merchant" }));
      const rows = await client.list(`/api/admin/deposits?${query}`, "deposits");
      return table(rows.map((row) => ({
        id: row.id,
        merchant: row.merchantId,
        amount: row.amount,
        pair: `${row.currency}/${row.network}`,
        source: row.source,
        created: row.createdAt,
      })));
    },
  },
  decide("confirm", "credits a deposit that was booked by hand"),
  decide("fail", "fails one; the merchant is told --reason TEXT"),
  decide("cancel", "cancels one"),
  {
    name: "addresses list",
    args: [],
    options: { inactive: { type: "boolean" }, merchant: { type: "string" } },
    help: "settlement addresses of all merchants; --inactive, --merchant ID",
    run: async (client, _args, options) => {
      const query = new URLSearchParams({
        ...given(options, { merchantId: "merchant" }),
        ...(options.inactive === true ? { active: "false" } : {}),
      });
      const path = `/api/admin/settlement-addresses?${query}`;
      const rows = await client.list(path, "settlementAddresses");
      return table(rows.map((row) => ({
        id: row.id,
        merchant: row.merchantId,
        network: row.network,
        address: row.address,
        label: row.label,
        active: row.active === true ? "yes" : "no",
      })));
    },
  },
  activation("activate", "lets a merchant settle to an address"),
  activation("deactivate", "closes it again"),
  {
    name: "resellers list",
    args: [],
    options: {},
    help: "every reseller",
    run: async (client) => table(await client.list("/api/resellers", "resellers")),
  },
  {
    name: "resellers create",
    args: [],
    options: {
      name: { type: "string" },
      address: { type: "string" },
      network: { type: "string" },
      merchant: { type: "string" },
    },
    help: "--name NAME --address WITHDRAWAL-ADDRESS --network TRX [--merchant ID]",
    run: async (client, _args, options) =>
      record(
        await client.send(
          "POST",
          "/api/resellers",
          given(options, {
            name: "name",
            withdrawalAddress: "address",
            network: "network",
            merchantId: "merchant",
          }),
        ),
      ),
  },
  {
    name: "resellers attach",
    args: ["merchant-id"],
    options: {
      reseller: { type: "string" },
      margin: { type: "string" },
      beneficiary: { type: "string" },
    },
    help: "--reseller ID --margin 0.2 [--beneficiary merchant|reseller]; no --reseller detaches",
    run: async (client, [id], options) =>
      record(
        await client.send("PUT", `/api/merchants/${id}/reseller`, {
          resellerId: null,
          ...given(options, {
            resellerId: "reseller",
            marginRate: "margin",
            beneficiary: "beneficiary",
          }),
        }),
      ),
  },
  {
    name: "inbox list",
    args: [],
    options: { kind: { type: "string" }, merchant: { type: "string" } },
    help:
      "what was quarantined with its reason; --kind bug|unreadable|unexpected|unclaimed|claimed|unproven",
    run: async (client, _args, options) => {
      const query = new URLSearchParams(given(options, { kind: "kind", merchantId: "merchant" }));
      const rows = await client.list(`/api/admin/inbox?${query}`, "rows");
      return table(rows.map((row) => ({
        merchant: row.merchantId,
        row: [row.network, row.txid, row.logIndex, row.phase].join("/"),
        reason: row.reason,
        created: row.createdAt,
      })));
    },
  },
  inboxVerb("retry", "gives a row back to its merchant that a fault quarantined", {}),
  inboxVerb("acknowledge", "takes one off the list that was dealt with; --reason TEXT", {
    reason: "reason",
  }),
  inboxVerb("discard", "a disputed large transfer that no node shows any more; --reason TEXT", {
    reason: "reason",
  }),
  {
    name: "rescan",
    args: ["network", "from", "to"],
    options: {},
    help: "reads solid blocks again and books what was missed",
    run: async (client, [network, from, to]) =>
      record(
        await client.send("POST", `/api/admin/chains/${network}/rescan`, {
          from: Number(from),
          to: Number(to),
        }),
      ),
  },
];
