/**
 * The dated change record of the interface; newest first. Paths carry no version, so that this is what tells a merchant
 * whether anything is new.
 *
 * @module
 */

export interface Change {
  /** Day in UTC, `2026-08-13`. */
  readonly date: string;
  readonly change: string;
}

/** Every change that was announced. */
export const CHANGE_RECORD: readonly Change[] = [
  {
    date: "2026-11-26",
    change:
      "Balances of the list have `baseFee` and `markupRate`, profiles `activationFee`; `GET " +
      "/api/settlements/{settlementId}` answers one settlement; a field of a body that was probably " +
      "meant to be another one is refused with the question which one (`reference_id`, `orderId` and " +
      "`idempotencyKey` of a payout, `amount` of a page among them), and a required field that is missing " +
      "names it; a payout with the header `Idempotency-Key` and without `referenceId` is a 400; so are `orderId`, `externalId`, `requestId` and the " +
      "like without `referenceId` on `POST /api/deposit-address` and `POST /api/deposit-url` as well (a field " +
      "for your own tracing needs `referenceId` beside it), and any such field, `referenceId` too, of " +
      "`POST /api/settlements` without the header `Idempotency-Key`; balances of " +
      "the list have `minWithdrawal`; `deposit.failed` has `referenceId`; `metadata.txHash` of `POST " +
      "/api/deposits` that is no transaction id of the network, and not null, is a 400, and so is such an id " +
      "anywhere else in the metadata without it",
  },
  {
    date: "2026-11-24",
    change:
      "`GET /api/withdrawals` takes `referenceId`; in a body a field that is written otherwise than " +
      "`referenceId`, `requestedAmount`, `requestedCurrency`, `depositAddressId`, `metadata`, " +
      "`expiresAt` or `ipAllowlist` and has the same letters is refused with its spelling, where it " +
      "would have been ignored",
  },
  {
    date: "2026-11-23",
    change:
      "Every error has a `code` beside its text: one word per error, which stays (`ErrorCode`); " +
      "`POST /api/deposit-url` takes an `Idempotency-Key` and answers `payableAmount`; balances have " +
      "`largestWithdrawal`; `deposit.*` and `withdrawal.*` name their `network`; query parameters " +
      "that a route with a key does not know are refused",
  },
  {
    date: "2026-11-22",
    change:
      "Every 409 of a refused transition names both states (`from`, `to`); date filters take " +
      "date-times without seconds or offset (UTC); `POST /api/webhook/event` answers 401 before it " +
      "tells of the body's fields; unknown fields in the body of `PUT /api/resellers/{resellerId}` " +
      "are ignored for resellers, and refused for administrators wherever both call; " +
      "`webhookEvents` refuses names that do not exist, and an endpoint whose host has IPv6 " +
      "addresses alone is refused with that reason; `GET /api/deposit-page/status` may be read " +
      "by pages of any origin; `metadata` of `POST /api/deposits` is bounded (4 kB of JSON, 50 keys, " +
      "3 levels), answers of more than 128 KiB count as more than one request, and routes without " +
      "a key are limited per client address",
  },
  {
    date: "2026-08-13",
    change:
      "Hosted deposit page redesigned; no behavioral change (tokens, 404/410 expiry handling, " +
      "status polling, redirects unchanged); internal sweep reliability work without contract change",
  },
  {
    date: "2026-07-31",
    change: "`withdrawal.confirmed` `feeCharges` always present; `networkFee` documented; wallet " +
      "top-up flat fees recorded in the merchant charge ledger",
  },
  {
    date: "2026-07-30",
    change: "Balances segmented per (currency, network); balance rows gain `withdrawalEnabled`, " +
      "`networkFee`, `maxWithdrawable`; withdrawal `referenceId` idempotency",
  },
  {
    date: "2026-07-24",
    change: "Hosted page shows live status waiting, detected, completed with automatic redirect " +
      "on terminal states",
  },
  {
    date: "2026-07-21",
    change:
      "Wallet top-ups credit pending and move to available after sweep; API-created addresses " +
      "unaffected",
  },
  {
    date: "2026-05-05",
    change: "New endpoint `GET /api/merchants/{merchantId}/charges`",
  },
];

/** Day of the most recent change. */
export function latestChange(): string {
  const dates = CHANGE_RECORD.map(({ date }) => date).toSorted();
  const latest = dates.at(-1);
  if (latest === undefined) throw new TypeError("Cannot name the latest change as there is none");
  return latest;
}
