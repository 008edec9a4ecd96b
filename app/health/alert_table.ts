/**
 * The rules of Prometheus: every kind of a reason of `/readyz` has one, and what readiness does not tell.
 * `docs/alerts.yml` is made of this table.
 *
 * @module
 */

import type { ReasonKind } from "./reason_table.ts";

/** `page` wakes a person, `ticket` waits for the morning. */
type Severity = "page" | "ticket";

/** One rule. */
export interface Alert {
  readonly name: string;
  readonly expression: string;
  /** Time for which the expression has to hold, as Prometheus writes it. */
  readonly lasts: string;
  readonly severity: Severity;
  readonly summary: string;
  readonly meaning: string;
  /** Heading of its remedy in `docs/incidents.md`, as a link's fragment. */
  readonly task: string;
}

type Row = readonly [
  severity: Severity,
  lasts: string,
  summary: string,
  meaning: string,
  task: string,
];

/** Rules of reasons, by their kind. */
const REASON_ALERTS: Readonly<Record<ReasonKind, Row>> = {
  starting: [
    "ticket",
    "5m",
    "A node does not get ready",
    "Its networks or exchange rates are not reached",
    "nothing-is-served",
  ],
  journal_halted: [
    "page",
    "0s",
    "The journal stands still",
    "Nothing is decided, requests are 503: the database hangs",
    "the-database-does-not-answer",
  ],
  database_pool: [
    "page",
    "2m",
    "A pool of connections is used up",
    "Statements wait for each other",
    "the-database-does-not-answer",
  ],
  database_unread: [
    "ticket",
    "10m",
    "A part of readiness cannot be read",
    "A table is locked, or the database is slow",
    "the-database-does-not-answer",
  ],
  database: [
    "page",
    "1m",
    "The database does not answer",
    "Nothing is served by this node",
    "the-database-does-not-answer",
  ],
  clock: [
    "ticket",
    "10m",
    "Clocks differ",
    "This machine, the database or a kept time is wrong",
    "a-part-of-the-service-hangs",
  ],
  journal_given_up: [
    "page",
    "0s",
    "A batch was given up",
    "Merchants were answered that it is unknown or failed",
    "when-one-merchant-is-answered-503-and-others-are-not",
  ],
  audit_held: [
    "ticket",
    "5m",
    "Commands of administrators are refused",
    "Another transaction holds the head of the audit",
    "when-one-merchant-is-answered-503-and-others-are-not",
  ],
  changes_crowded: [
    "ticket",
    "5m",
    "Changes are refused",
    "More requests come than are decided: 503 with Retry-After",
    "when-one-merchant-is-answered-503-and-others-are-not",
  ],
  claims_crowded: [
    "ticket",
    "10m",
    "Claims are refused",
    "Those under way take long, mostly as the network's nodes are slow: 503 with Retry-After",
    "when-one-merchant-is-answered-503-and-others-are-not",
  ],
  pages_crowded: [
    "ticket",
    "5m",
    "Hosted pages are refused",
    "Those under way take long, mostly as the database does: 503 with Retry-After",
    "when-one-merchant-is-answered-503-and-others-are-not",
  ],
  redeliveries_crowded: [
    "ticket",
    "10m",
    "Redeliveries are refused",
    "Those of other merchants take long: 503 with Retry-After",
    "when-one-merchant-is-answered-503-and-others-are-not",
  ],
  rows_held: [
    "page",
    "5m",
    "Merchants wait for a lock",
    "Another transaction holds their rows",
    "when-one-merchant-is-answered-503-and-others-are-not",
  ],
  signer: [
    "page",
    "2m",
    "Payouts cannot be signed",
    "The signer is away, paused or has another wallet",
    "payouts-wait",
  ],
  // ChainBlind pages for the same outage, and says which network
  chain_unreached: [
    "ticket",
    "2m",
    "A network cannot be reached",
    "Deposits are not seen, payouts wait: EngineChainBlind pages for it",
    "a-network-is-not-read",
  ],
  chain_head_unreached: [
    "ticket",
    "5m",
    "The newest blocks of a network cannot be reached",
    "Payments show when they are final, not at once",
    "a-network-is-not-read",
  ],
  scan_awaited: [
    "ticket",
    "10m",
    "Nothing is signed before the scan has read what a start found",
    "Payouts wait: what left the wallets while the service was away, or since its database was set back, is read first",
    "a-network-is-not-read",
  ],
  chain_lag: [
    "page",
    "5m",
    "The scan of a network is behind",
    "Deposits are credited late",
    "a-network-is-not-read",
  ],
  chain_head_stale: [
    "ticket",
    "5m",
    "The newest blocks of a network do not grow",
    "Its nodes are stuck: customers hear of payments late, and payouts are not replaced",
    "a-network-is-not-read",
  ],
  chain_refused: [
    "page",
    "0s",
    "The contract of a token has other decimals than the service counts with",
    "Nothing of its network is credited or signed",
    "a-network-is-not-read",
  ],
  chain_stopped: [
    "page",
    "0s",
    "The scan of a network has stopped",
    "Solid blocks do not continue what was read: a node lies",
    "a-node-is-wrong",
  ],
  chain_unreadable: [
    "page",
    "5m",
    "A block cannot be read",
    "The scan waits for it",
    "a-network-is-not-read",
  ],
  node_budget: [
    "ticket",
    "30m",
    "The calls of the day run out",
    "A network is read slowly",
    "a-node-gives-less-than-is-asked",
  ],
  node_wrong_chain: [
    "page",
    "0s",
    "A node is of another chain",
    "It is not believed",
    "a-node-is-wrong",
  ],
  node_unserved: [
    "ticket",
    "30m",
    "A node does not serve all calls",
    "Others are asked instead, if there are",
    "a-node-gives-less-than-is-asked",
  ],
  node_suspended: [
    "ticket",
    "10m",
    "A node has suspended us",
    "It was asked too much",
    "a-node-gives-less-than-is-asked",
  ],
  actor_busy: [
    "page",
    "5m",
    "A part of the service hangs",
    "An actor is busy with one message",
    "a-part-of-the-service-hangs",
  ],
  periodic_late: [
    "page",
    "5m",
    "Periodic work does not go on",
    "Something that is found by looking is not found",
    "a-part-of-the-service-hangs",
  ],
  timers_broken: [
    "ticket",
    "10m",
    "Timers cannot be delivered",
    "A fault of the program",
    "a-part-of-the-service-hangs",
  ],
  callback_secrets: [
    "page",
    "5m",
    "Callback secrets cannot be opened",
    "Callbacks of some merchants wait",
    "the-key-of-the-callback-secrets",
  ],
  callback_claims: [
    "ticket",
    "10m",
    "Events cannot be read for delivery",
    "Callbacks of some merchants wait",
    "callbacks-wait",
  ],
  callback_marks: [
    "ticket",
    "10m",
    "Deliveries cannot be written down",
    "Another transaction holds their rows",
    "callbacks-wait",
  ],
  callback_sender: [
    "page",
    "1m",
    "No callback is sent",
    "The sender has ended and does not start",
    "callbacks-wait",
  ],
  callback_names: [
    "ticket",
    "10m",
    "Hosts of callbacks are not looked up",
    "Look-ups hang: the machine's name servers",
    "callbacks-wait",
  ],
  callbacks_untried: [
    "page",
    "5m",
    "Callbacks are not tried",
    "Deliveries stand still or are far behind",
    "callbacks-wait",
  ],
  inbox_quarantined: [
    "ticket",
    "10m",
    "Rows of the inbox wait for a person",
    "A transfer could not be booked",
    "a-transfer-could-not-be-booked",
  ],
  inbox_misdirected: [
    "ticket",
    "10m",
    "A customer has paid on the wrong network",
    "Nothing is credited: the merchant is to be told",
    "a-transfer-on-the-wrong-network",
  ],
  deposit_disputed: [
    "page",
    "0s",
    "A second node disputes a deposit",
    "One of the nodes lies",
    "a-disputed-deposit",
  ],
  deposit_unproven: [
    "ticket",
    "10m",
    "A large deposit waits for a second node",
    "It is not credited meanwhile",
    "a-disputed-deposit",
  ],
  deposit_claims: [
    "ticket",
    "30m",
    "A claimed transfer waits",
    "Its deposit by hand was not decided",
    "a-transfer-could-not-be-booked",
  ],
  contract_missing: [
    "ticket",
    "10m",
    "A token has no contract",
    "Its deposits are passed over",
    "a-transfer-could-not-be-booked",
  ],
  payout_unproven: [
    "ticket",
    "10m",
    "An expired or failed payout waits for its proof",
    "It is not made anew meanwhile",
    "payouts-wait",
  ],
  lane_stopped: [
    "page",
    "5m",
    "Nothing is signed on a chain that counts nonces",
    "The hot wallet has transactions that the books do not know",
    "money-left-a-wallet-unknown-to-the-books",
  ],
  lane_closed: [
    "ticket",
    "10m",
    "A deposit address is not swept",
    "It has transactions that the books do not know; all others go on",
    "money-left-a-wallet-unknown-to-the-books",
  ],
  fees_high: [
    "page",
    "0s",
    "Transactions burn more coin than they may on a day",
    "The hot wallet's coin runs out: find the merchant that makes so many payouts",
    "the-hot-wallet-is-low",
  ],
  lane_capped: [
    "ticket",
    "30m",
    "Fees are above the cap",
    "Payouts wait for the fees to fall, or for a higher cap",
    "payouts-wait",
  ],
  payout_over_cap: [
    "ticket",
    "1m",
    "A payout is above the signer's cap",
    "It waits for a person",
    "payouts-that-wait-for-a-person",
  ],
  payout_quarantined: [
    "ticket",
    "1m",
    "A payout cannot be signed as it is",
    "It waits for a person",
    "payouts-that-wait-for-a-person",
  ],
  payout_late: [
    "page",
    "1m",
    "A payout waits that could be made",
    "Nothing but its turn holds it",
    "payouts-wait",
  ],
  transfer_queued: [
    "ticket",
    "5m",
    "A transfer is queued for long",
    "It waits for money, the signer, a node or the end of a hold",
    "payouts-wait",
  ],
  // a network that is away pages by itself, and payouts that wait for any other cause do (PayoutsHeld)
  wallet_unreadable: [
    "ticket",
    "5m",
    "The hot wallet cannot be looked at",
    "New payouts are accepted unseen, and wait where it is short",
    "the-hot-wallet-is-low",
  ],
  wallet_low: [
    "page",
    "0s",
    "The hot wallet is low",
    "Of a token: withdrawals above what it has free are refused; of the coin: payouts wait",
    "the-hot-wallet-is-low",
  ],
  fee_fixed: [
    "ticket",
    "1h",
    "A dynamic fee falls back",
    "The fixed fee is charged",
    "exchange-rates-are-not-known",
  ],
  rates: [
    "page",
    "5m",
    "Exchange rates are not known",
    "No quotes are given, sweeps are not priced",
    "exchange-rates-are-not-known",
  ],
  sweep: [
    "ticket",
    "10m",
    "Addresses cannot be swept",
    "Their money is not in the hot wallet",
    "a-sweep-that-ends-unexpected",
  ],
  books_differ: [
    "page",
    "0s",
    "The books differ",
    "Money may be wrong: find out before anything else",
    "when-the-books-differ",
  ],
  books_late: [
    "ticket",
    "1h",
    "The books are not compared",
    "A difference would not be found",
    "when-the-books-differ",
  ],
  addresses_held: [
    "page",
    "1m",
    "No deposit address is handed out",
    "The signer has another wallet, or none was seen",
    "addresses-are-held-back",
  ],
  address_mismatch: [
    "page",
    "0s",
    "Addresses are not the wallet's own",
    "Somebody writes to the database",
    "addresses-are-held-back",
  ],
  address_lists: [
    "ticket",
    "10m",
    "Lists of addresses were given up",
    "Merchants ask for more than can be compared",
    "addresses-are-held-back",
  ],
  addresses_refused: [
    "page",
    "5m",
    "A network hands out no addresses",
    "Another transaction holds its row",
    "when-one-merchant-is-answered-503-and-others-are-not",
  ],
  descriptors: [
    "page",
    "5m",
    "Descriptors are used up",
    "Connections are refused",
    "connections-are-used-up",
  ],
  connections: [
    "ticket",
    "10m",
    "Connections are refused or nearly used up",
    "Clients wait; a proxy may not be named",
    "connections-are-used-up",
  ],
  event_loop: [
    "ticket",
    "5m",
    "The event loop is late",
    "Requests wait for each other",
    "connections-are-used-up",
  ],
  failover_hold: [
    "page",
    "0s",
    "Payouts are held after a failover",
    "The database has another history",
    "after-a-failover",
  ],
  unknown_spends: [
    "page",
    "0s",
    "Money left a wallet unknown to the books",
    "It may be a theft; payouts are stopped",
    "money-left-a-wallet-unknown-to-the-books",
  ],
  unproven_hands: [
    "ticket",
    "30m",
    "A node's word for a sender is not proven",
    "A node lies, or none shows a transaction of the hot wallet; payouts go on",
    "money-left-a-wallet-unknown-to-the-books",
  ],
  history_untold: [
    "ticket",
    "10m",
    "The database does not tell its history",
    "A failover is not noticed",
    "after-a-failover",
  ],
  token_switched: [
    "page",
    "0s",
    "An issuer has switched a token",
    "Its payouts may wait",
    "a-token-that-its-issuer-has-switched",
  ],
  other: ["ticket", "5m", "Readiness is degraded", "`/readyz` has the words", "nothing-is-served"],
};

const PAYOUTS = 'kind=~"withdrawal|settlement"';

/** Rules of what readiness does not tell. */
const FIGURE_ALERTS: Readonly<Record<string, readonly [expression: string, ...Row]>> = {
  NodeUnready: [
    "engine_ready == 0",
    "page",
    "1m",
    "A node serves nothing",
    "`/readyz` is 503",
    "nothing-is-served",
  ],
  MetricsAbsent: [
    "absent(engine_build_info)",
    "page",
    "2m",
    "No node is seen",
    "All are down, or Prometheus does not reach them",
    "nothing-is-served",
  ],
  ReadinessStuck: [
    "engine_readiness_age_seconds > 60",
    "page",
    "1m",
    "Readiness is not answered",
    "The node hangs",
    "nothing-is-served",
  ],
  FiguresStuck: [
    "engine_database_figures_age_seconds > 60",
    "ticket",
    "5m",
    "Figures of the database are old",
    "It does not answer metrics",
    "the-database-does-not-answer",
  ],
  PayoutFailed: [
    `increase(engine_payments_total{${PAYOUTS},status="failed"}[15m]) > 0`,
    "ticket",
    "0s",
    "A payout failed",
    "It is refunded; the log line payout.failed has its reason",
    "a-payout-failed",
  ],
  PayoutsFail: [
    `sum(increase(engine_payments_total{${PAYOUTS},status="failed"}[15m])) > 5`,
    "page",
    "0s",
    "Payouts fail",
    "More than five in 15 minutes",
    "a-payout-failed",
  ],
  PayoutsHeld: [
    'engine_payouts_oldest_seconds{state="held"} > 600',
    "page",
    "1m",
    "Payouts wait for money, the signer or the end of a hold",
    "The oldest for more than ten minutes",
    "payouts-wait",
  ],
  PayoutsUnconfirmed: [
    'engine_payouts_oldest_seconds{state="signed"} - ignoring (state) engine_chain_finality_seconds > 600',
    "page",
    "5m",
    "A signed payout is not final",
    "Ten minutes beyond its network's usual time; it is sent again until it is, or expires",
    "payouts-wait",
  ],
  PayoutsRefused: [
    "increase(engine_payouts_refused_short_total[15m]) > 0",
    "ticket",
    "0s",
    "Withdrawals are refused as the hot wallet is short",
    "Merchants are answered 503 for what is more than it has free; nothing of them waits",
    "the-hot-wallet-is-low",
  ],
  WalletOverdrawn: [
    "engine_treasury_free < 0",
    "page",
    "1m",
    "The hot wallet has less than it owes",
    "Payouts wait for funds, new ones are refused",
    "the-hot-wallet-is-low",
  ],
  ChainBlind: [
    "engine_chain_reached_age_seconds > 30",
    "page",
    "30s",
    "No node of a network answers",
    "Deposits are not seen, payouts wait",
    "a-network-is-not-read",
  ],
  // less the time without an answer: an outage of the nodes is ChainBlind's alone
  ChainLate: [
    "engine_chain_lag_seconds - engine_chain_reached_age_seconds - engine_chain_finality_seconds > 300",
    "page",
    "2m",
    "The newest block that was read is old",
    "Nodes answer, and deposits are credited late",
    "a-network-is-not-read",
  ],
  CallbacksLate: [
    "engine_callbacks_oldest_seconds > 600",
    "ticket",
    "5m",
    "Callbacks are late",
    "An endpoint fails and is not paused yet, or deliveries stand still",
    "callbacks-wait",
  ],
  CallbacksFail: [
    'increase(engine_callback_attempts_total{result=~"retry|failed"}[5m]) > 0',
    "ticket",
    "10m",
    "An endpoint does not answer",
    "Its callbacks are tried again, ever more seldom",
    "callbacks-wait",
  ],
  EndpointsPaused: [
    "engine_callbacks_paused_endpoints > 0",
    "ticket",
    "30m",
    "Endpoints are only probed",
    "Their merchants hear nothing: tell them",
    "callbacks-wait",
  ],
  ApprovalsWait: [
    "engine_approvals_waiting > 0",
    "ticket",
    "1h",
    "Payouts wait for an administrator",
    "See deno task admin approvals",
    "payouts-that-wait-for-a-person",
  ],
  RequestsFail: [
    'sum(rate(engine_http_requests_total{status=~"5.."}[5m])) > 1',
    "page",
    "5m",
    "Requests fail",
    "More than one a second is answered 5xx",
    "nothing-is-served",
  ],
  BooksOld: [
    "time() - engine_reconcile_finished_timestamp_seconds > 172800",
    "ticket",
    "1h",
    "A comparison of the books is two days old",
    "A difference would not be found",
    "when-the-books-differ",
  ],
};

/** All rules, those of reasons first. */
export const ALERTS: readonly Alert[] = [
  ...Object.entries(REASON_ALERTS).map(([kind, row]) =>
    alertOf(
      `Reason${kind.split("_").map((word) => word.replace(/^./, (c) => c.toUpperCase())).join("")}`,
      `engine_readiness_reasons{reason="${kind}"} > 0`,
      row,
    )
  ),
  ...Object.entries(FIGURE_ALERTS).map(([name, [expression, ...row]]) =>
    alertOf(name, expression, row)
  ),
];

function alertOf(name: string, expression: string, [severity, lasts, ...texts]: Row): Alert {
  const [summary, meaning, task] = texts;
  return { name: `Engine${name}`, expression, lasts, severity, summary, meaning, task };
}

/** The text of `docs/alerts.yml`. */
export function alertsDocument(): string {
  const rules = ALERTS.map(({ name, expression, lasts, severity, summary, meaning, task }) =>
    `      - alert: ${name}
        expr: ${JSON.stringify(expression)}
        for: ${lasts}
        labels:
          severity: ${severity}
        annotations:
          summary: ${JSON.stringify(summary)}
          description: ${JSON.stringify(meaning)}
          runbook_url: ${JSON.stringify(`docs/incidents.md#${task}`)}
`
  );
  return `# Made by: deno task alerts, of app/health/alert_table.ts. For rule_files of Prometheus.
# severity page: wake a person; ticket: it waits for the morning.
groups:
  - name: engine
    rules:
${rules.join("")}`;
}
