import { v7 } from "uuid";
import type { Sql } from "./database/connect.ts";

/** A merchant, a reseller or a key of the development mode. */
export type DemoAccount =
  | {
    readonly kind: "merchant";
    readonly merchantId: string;
    readonly name: string;
    readonly depositCommissionRate: string;
    readonly webhookSecret: string;
  }
  | {
    readonly kind: "reseller";
    readonly resellerId: string;
    readonly merchantId: string;
    readonly name: string;
    readonly withdrawalAddress: string;
    readonly network: string;
  }
  | {
    readonly kind: "key";
    readonly apiKey: string;
    readonly merchantId: string | null;
    readonly role: "MERCHANT" | "RESELLER" | "ADMIN";
    readonly permissions: readonly string[];
    readonly label: string;
  };

/** Inserts what is missing; what exists stays as it is. */
export async function ensureDemoAccounts(
  sql: Sql,
  accounts: readonly DemoAccount[],
): Promise<void> {
  await sql.begin(async (tx) => {
    for (const account of accounts) {
      if (account.kind === "merchant") {
        await tx`
          INSERT INTO book.merchant (merchant_id, slot, name, deposit_commission_rate, webhook_secret, created_at)
          VALUES (${account.merchantId}, book.slot_of(${account.merchantId}), ${account.name}, ${account.depositCommissionRate}, ${account.webhookSecret}, now())
          ON CONFLICT DO NOTHING`;
        await tx`INSERT INTO book.account (merchant_id) VALUES (${account.merchantId}) ON CONFLICT DO NOTHING`;
      } else if (account.kind === "reseller") {
        await tx`
          INSERT INTO hub.reseller (id, merchant_id, name, withdrawal_address, network)
          VALUES (${account.resellerId}, ${account.merchantId}, ${account.name}, ${account.withdrawalAddress}, ${account.network})
          ON CONFLICT DO NOTHING`;
      } else {
        await tx`
          INSERT INTO hub.api_key (id, hash, merchant_id, role, permissions, label, created_at)
          VALUES (${`key_${v7()}`}, sha256(${account.apiKey}::text::bytea), ${account.merchantId}, ${account.role}, ${[
          ...account.permissions,
        ]}::text[], ${account.label}, now())
          ON CONFLICT (hash) DO NOTHING`;
      }
    }
  });
}
