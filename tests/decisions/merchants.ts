/**
 * The merchant's own: its deposit addresses, its profile, its share of others' fees.
 *
 * @module
 */

import { address, amount, NOW, topUp } from "./support/account.ts";
import { issueAddress, margin, stampOf, updateProfile } from "./support/messages.ts";
import type { Spec } from "./support/statement.ts";

export const ADDRESSES: readonly Spec[] = [
  {
    it: "asked of a suspended merchant",
    given: { merchant: { status: "SUSPENDED" } },
    when: issueAddress(),
    then: "refused merchant_not_active",
  },
  {
    it: "on a network without open deposits",
    terms: { deposits: false },
    when: issueAddress(),
    then: "refused deposits_closed_on_network",
  },
  {
    it: "for a customer that has one, asked for as new",
    given: { addresses: [address()] },
    when: issueAddress({ createOnly: true }),
    then: "refused address_exists",
  },
  {
    it: "for a new customer",
    when: issueAddress({ referenceId: "order-1" }),
    then: [
      "address adr_new issued T-new, of cust, reference order-1",
      "answer addressId adr_new, address T-new, walletIndex 9, created true",
    ],
  },
  {
    it: "for a customer that has one",
    given: { addresses: [address({ referenceId: "order-1" })] },
    when: issueAddress(),
    then: ["answer addressId adr_1, address T-customer, walletIndex 5, created false"],
  },
  {
    it: "for a customer that has one, with another reference",
    given: { addresses: [address({ referenceId: "order-1" })] },
    when: issueAddress({ referenceId: "order-2" }),
    then: [
      "address adr_1 issued T-customer, of cust, reference order-2, activated yes",
      "answer addressId adr_1, address T-customer, walletIndex 5, created false",
    ],
  },
  {
    it: "behind a hosted page: always a fresh one",
    given: { addresses: [address()] },
    when: issueAddress({ kind: "session" }),
    then: [
      "address adr_new session T-new, of cust",
      "answer addressId adr_new, address T-new, walletIndex 9, created true",
    ],
  },
  {
    it: "for top-ups",
    when: issueAddress({ kind: "top_up", identifier: null }),
    then: [
      "address adr_new top_up T-new",
      "answer addressId adr_new, address T-new, walletIndex 9, created true",
    ],
  },
  {
    it: "for top-ups, again",
    given: { addresses: [topUp()] },
    when: issueAddress({ kind: "top_up", identifier: null }),
    then: ["answer addressId adr_top, address T-top, walletIndex 5, created false"],
  },
];

const SECRETS = { webhookSecretPrevious: "whsec_old", webhookPreviousUntil: 1 } as const;

export const PROFILES: readonly Spec[] = [
  {
    it: "changed where the patch says so",
    when: updateProfile({
      status: "SUSPENDED",
      directDepositFee: amount("0.5"),
      webhookTimeout: 5_000,
    }, { audit: stampOf("bob") }),
    then: [
      'audit test of mer_1 by key_bob: {"status":"ACTIVE","directDepositFee":"0","webhookTimeout":10000} -> {"status":"SUSPENDED","directDepositFee":"0.5","webhookTimeout":5000}',
      "profile status SUSPENDED, directDepositFee 0.5, webhookTimeoutMs 5000",
      "answer merchantId mer_1, slot 0, status SUSPENDED, name One, depositCommissionRate 0, directDepositFee 0.5, webhookUrl https://shop.example/hook, webhookSecret whsec_now, webhookEnabled true, webhookTimeoutMs 5000, webhookRetryCount 3, marginRate 0, createdAt 0",
    ],
  },
  {
    it: "a new secret makes the last one the previous, for as long as asked",
    given: { merchant: SECRETS },
    when: updateProfile({ webhookSecret: "whsec_new", webhookPreviousUntil: NOW + 1 }, {
      audit: stampOf("bob"),
    }),
    then: [
      'audit test of mer_1 by key_bob: {"webhookSecret":"[secret]","webhookPreviousUntil":1} -> {"webhookSecret":"[secret]","webhookPreviousUntil":1767268800001}',
      "profile webhookSecret whsec_new, webhookSecretPrevious whsec_now, webhookPreviousUntil 1767268800001",
      "answer merchantId mer_1, slot 0, status ACTIVE, name One, depositCommissionRate 0, webhookUrl https://shop.example/hook, webhookSecret whsec_new, webhookSecretPrevious whsec_now, webhookPreviousUntil 1767268800001, webhookEnabled true, webhookTimeoutMs 10000, webhookRetryCount 3, marginRate 0, createdAt 0",
    ],
  },
  {
    it: "a new secret without an overlap leaves no previous one",
    given: { merchant: SECRETS },
    when: updateProfile({ webhookSecret: "whsec_new", webhookPreviousUntil: null }),
    then: [
      "profile webhookSecret whsec_new, webhookSecretPrevious null, webhookPreviousUntil null",
      "answer merchantId mer_1, slot 0, status ACTIVE, name One, depositCommissionRate 0, webhookUrl https://shop.example/hook, webhookSecret whsec_new, webhookEnabled true, webhookTimeoutMs 10000, webhookRetryCount 3, marginRate 0, createdAt 0",
    ],
  },
  {
    it: "a new secret whose overlap has passed leaves no previous one",
    given: { merchant: SECRETS },
    when: updateProfile({ webhookSecret: "whsec_new", webhookPreviousUntil: NOW }),
    then: [
      "profile webhookSecret whsec_new, webhookSecretPrevious null, webhookPreviousUntil 1767268800000",
      "answer merchantId mer_1, slot 0, status ACTIVE, name One, depositCommissionRate 0, webhookUrl https://shop.example/hook, webhookSecret whsec_new, webhookPreviousUntil 1767268800000, webhookEnabled true, webhookTimeoutMs 10000, webhookRetryCount 3, marginRate 0, createdAt 0",
    ],
  },
];

export const SHARES: readonly Spec[] = [
  {
    it: "a share of another merchant's fees is available at once",
    when: margin(),
    then: [
      "0.5 margin_due -> available (wd_of_another/mer_1 margin)",
      "line 11 DEPOSIT CONFIRMED 0.5, category Margin",
      "event evt_1 transaction.confirmed, balance 100.5",
      "consumed margin",
    ],
  },
];
