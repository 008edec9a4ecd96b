/**
 * Every metric of `GET /metrics`: a new one is a row here and the place that reads it. `docs/metrics.md` is
 * made of this table.
 *
 * @module
 */

/** A row: type, labels, meaning, and what an operator does about it. */
type Row = readonly [
  type: "counter" | "gauge" | "histogram",
  labels: readonly string[],
  meaning: string,
  todo: string,
];

/** The task that comes of a figure which only explains others, and tasks that many share. */
const NONE = "Nothing: it explains other figures";
const LOG = "See the log for the cause";
const NODES = "Look at the nodes: `deno task admin chains`";
const TREASURY = "`deno task admin treasury`";

/** The metrics by their names. Counters count since the start of the process. */
export const METRICS = {
  engine_build_info: ["gauge", ["version"], "1, with the version that runs", NONE],
  engine_readiness_reasons: [
    "gauge",
    ["reason"],
    "Reasons of `/readyz` at its newest look, by kind",
    "`/readyz` has the words; the alert of the reason names its task",
  ],
  engine_ready: [
    "gauge",
    [],
    "1 where this node can serve, 0 while `/readyz` is 503",
    "0: `/readyz` has the reasons",
  ],
  engine_readiness_age_seconds: [
    "gauge",
    [],
    "Since readiness was last looked at",
    "Above a minute: `/readyz` is not answered, " + LOG.toLowerCase(),
  ],
  process_cpu_seconds_total: ["counter", [], "Processor time, user and system", NONE],
  process_start_time_seconds: ["gauge", [], "When the process began, Unix seconds", NONE],
  process_resident_memory_bytes: ["gauge", [], "Resident memory", "Growing for days: report it"],
  process_open_fds: [
    "gauge",
    [],
    "File descriptors in use, at least",
    "Near `process_max_fds`: raise `LimitNOFILE`",
  ],
  process_max_fds: ["gauge", [], "File descriptors that the process can have, at least", NONE],
  engine_heap_used_bytes: ["gauge", [], "Memory of JavaScript's heap in use", NONE],
  engine_event_loop_delay_seconds: [
    "gauge",
    ["quantile"],
    "How late due work begins, over the last ten seconds; quantile 1 is the longest",
    "The median high for minutes: fewer requests, or more nodes",
  ],
  engine_payments_total: [
    "counter",
    ["kind", "network", "currency", "status"],
    "Moves of deposits, withdrawals and settlements that this node has committed, by the status reached",
    "Failed payouts: the log line `payout.failed` names each",
  ],
  engine_payouts_refused_short_total: [
    "counter",
    ["network", "currency"],
    "Withdrawals and settlements that were answered 503 as the hot wallet has less free; nothing of them is kept",
    "Fill the hot wallet: " + TREASURY,
  ],
  engine_payouts: [
    "gauge",
    ["network", "state"],
    "Merchants' payouts under way: `payable` (their turn), `held` (for money, the signer, a pause or the end of a hold), " +
    "`over_cap` and `quarantined` (for a person), `signed` (not final)",
    "`over_cap`, `quarantined`: " + TREASURY,
  ],
  engine_payouts_oldest_seconds: [
    "gauge",
    ["network", "state"],
    "Age of the oldest of them; 0 without one",
    "`payable` above two minutes, `held` above ten: " + TREASURY,
  ],
  engine_payouts_without_expiry_proof: [
    "gauge",
    ["network"],
    "Expired and failed payouts that a second node has not agreed on",
    "Look at the second nodes (`<NETWORK>_PROOF_NODE_URLS`)",
  ],
  engine_treasury_lane_open: [
    "gauge",
    ["network"],
    "Nonces that are promised to transfers and that no solid block has used; of chains that count nonces",
    TREASURY,
  ],
  engine_treasury_lane_unseen: [
    "gauge",
    ["network"],
    "Those of them that no block shows yet",
    "At its most for minutes: fees rose, or nodes take nothing",
  ],
  engine_treasury_lane_lowest_age_seconds: [
    "gauge",
    ["network"],
    "Age of the hot wallet's lowest open nonce, which all others wait for; 0 without one",
    TREASURY,
  ],
  engine_treasury_lane_stopped: [
    "gauge",
    ["network"],
    "1 while nothing is signed as the hot wallet's nonces are not those of the books",
    "`deno task admin failover`, `treasury adopt`",
  ],
  engine_treasury_lanes_closed: [
    "gauge",
    ["network"],
    "Deposit addresses that nothing is signed for as their nonces are not those of the books",
    "`deno task admin treasury adopt <network> <txid>`",
  ],
  engine_treasury_fee_capped: [
    "gauge",
    ["network"],
    "Transfers that wait as fees are above the cap",
    "They go on when fees fall; a higher `<NETWORK>_FEE_CAP` pays more",
  ],
  engine_treasury_fees_today: [
    "gauge",
    ["network"],
    "Coin that transactions of the service have burned as fees today (UTC), those in solid blocks",
    "More than usual: `deno task admin treasury costs`; `<NETWORK>_FEES_PER_DAY` gives an alarm",
  ],
  engine_treasury_replacements_total: [
    "counter",
    ["network"],
    "Transactions that were replaced by dearer ones",
    "Many: fees move faster than they are estimated",
  ],
  engine_approvals_waiting: [
    "gauge",
    ["kind"],
    "Withdrawals and settlements that wait for an administrator, 10,000 at most",
    "`deno task admin approvals`",
  ],
  engine_treasury_oldest_queued_seconds: [
    "gauge",
    ["network"],
    "Age of the oldest transfer of any kind that waits for its signature; 0 without one",
    TREASURY,
  ],
  engine_treasury_low_assets: [
    "gauge",
    ["network"],
    "Assets of which the hot wallet has too little",
    "Fill the hot wallet",
  ],
  engine_treasury_unreadable_assets: [
    "gauge",
    ["network"],
    "Assets of the hot wallet whose balance no node tells",
    NODES,
  ],
  engine_treasury_token_switches: [
    "gauge",
    ["network"],
    "Switches of tokens that are not as usual: paused, a fee, a successor, the hot wallet blocked",
    'See "A token that its issuer has switched" in incidents.md',
  ],
  engine_treasury_hot_wallet: [
    "gauge",
    ["network", "asset"],
    "Balance of the hot wallet, in whole tokens; asset `native` is the chain's own coin. Absent while " +
    "no node tells",
    "Absent for minutes: " + NODES.toLowerCase(),
  ],
  engine_treasury_free: [
    "gauge",
    ["network", "asset"],
    "The part of it that is not reserved; negative: payouts wait for funds",
    "Negative: fill the hot wallet",
  ],
  engine_signer_open: [
    "gauge",
    ["network"],
    "1 where the signer has last said that it signs; one that cannot be reached changes nothing",
    "0: `deno task signer status`",
  ],
  engine_network_fee_estimate: [
    "gauge",
    ["network", "currency"],
    "Dynamic network fee of the moment, in the currency; absent while it falls back",
    NONE,
  ],
  engine_sweep_waiting_addresses: [
    "gauge",
    ["network", "reason"],
    "Addresses with something to sweep that are not swept, by reason",
    "`failed`, `unexpected`, `would_fail`, `balance_differs`: see incidents.md",
  ],
  engine_sweep_failing_addresses: [
    "gauge",
    ["network"],
    "Addresses that could not be looked at several times in a row",
    NODES,
  ],
  engine_sweep_held_addresses: [
    "gauge",
    ["network"],
    "Addresses that were paid and whose rows an open transaction holds",
    "End that transaction",
  ],
  engine_sweep_oldest_top_up_seconds: [
    "gauge",
    ["network"],
    "How long the oldest top-up is final that no final sweep has moved; 0 without one",
    "Above a day: `deno task admin treasury`, the reasons of its address",
  ],
  engine_claims_under_way: [
    "gauge",
    ["network"],
    "Claims of transactions that are looked up, or wait for their merchant; 4 at most",
    NONE,
  ],
  engine_claims_refused_total: [
    "counter",
    ["network"],
    "Claims that found no place in 2 s, those behind one of the same merchant among them: 503",
    "Growing with 4 under way: look at the network's nodes",
  ],
  engine_http_places_under_way: [
    "gauge",
    ["kind"],
    "Hosted pages that are read (`pages`), and requests that hold a merchant's outbox (`redeliveries`)",
    NONE,
  ],
  engine_http_places_refused_total: [
    "counter",
    ["kind"],
    "Of these, those that found no place in 2 s, behind one of the same page or merchant among them: 503",
    "Growing: look at the database",
  ],
  engine_deposits_unproven: [
    "gauge",
    ["network"],
    "Large deposits that a second node has not proven",
    'See "A disputed deposit" in incidents.md',
  ],
  engine_deposits_disputed: [
    "gauge",
    ["network"],
    "Those of them that a second node contradicts",
    'One of the nodes lies: see "A disputed deposit" in incidents.md',
  ],
  engine_deposits_oldest_unproven_seconds: [
    "gauge",
    ["network"],
    "Age of the oldest deposit that a second node has not proven; 0 without one",
    "Look at the second nodes (`<NETWORK>_PROOF_NODE_URLS`)",
  ],
  engine_chain_lag_seconds: [
    "gauge",
    ["network"],
    "Since the newest solid block that was read was made; it grows while no node answers. What a chain " +
    "takes until a block is solid is in it",
    NODES,
  ],
  engine_chain_finality_seconds: [
    "gauge",
    ["network"],
    "The time after which its blocks are solid at the latest in regular operation; it never changes",
    "Nothing: rules about what waits for a solid block subtract it",
  ],
  engine_chain_reached_age_seconds: [
    "gauge",
    ["network"],
    "Since any node of the network last answered for its solid blocks",
    NODES,
  ],
  engine_chain_head_reached_age_seconds: [
    "gauge",
    ["network"],
    "The same for its newest blocks, which are asked for apart; none where they are not looked at",
    NODES,
  ],
  engine_chain_lag_blocks: [
    "gauge",
    ["network"],
    "Solid blocks that nodes have told of and that are not read yet",
    NODES,
  ],
  engine_chain_awaited_blocks: [
    "gauge",
    ["network"],
    "Blocks that have to be read before anything is signed: since the start, or since the database was set back",
    NODES,
  ],
  engine_chain_solid_height: [
    "gauge",
    ["network"],
    "Newest solid block that a node told of",
    NONE,
  ],
  engine_chain_read_height: ["gauge", ["network"], "Newest solid block that was read", NONE],
  engine_chain_head_height: ["gauge", ["network"], "Newest block that was seen", NONE],
  engine_chain_head_unchanged_seconds: [
    "gauge",
    ["network"],
    "Time for which the newest block that its nodes say has not grown",
    NODES,
  ],
  engine_misdirected_dust_total: [
    "counter",
    ["network"],
    "Transfers of less than a dollar to addresses of other networks, which are passed over",
    NONE,
  ],
  engine_chain_blocks_read_total: ["counter", ["network"], "Solid blocks that were read", NONE],
  engine_chain_unreadable_blocks: [
    "gauge",
    ["network"],
    "Blocks that no node gives whole",
    NODES,
  ],
  engine_chain_blocks_to_read_again: [
    "gauge",
    ["network"],
    "Passed blocks that have to be read once more and that no node gives",
    NODES,
  ],
  engine_chain_scan_stopped: [
    "gauge",
    ["network"],
    "1 where solid blocks do not continue what was read",
    "Look at the nodes; `/readyz` has the block",
  ],
  engine_chain_scan_rest_seconds: [
    "gauge",
    ["network"],
    "Rest between two looks, so that the calls of nodes last the day",
    "High: raise `<NETWORK>_CALLS_PER_DAY` with the provider",
  ],
  engine_node_usable: [
    "gauge",
    ["network", "node"],
    "1 where a node is asked, 0 while it is left alone or not believed",
    NODES,
  ],
  engine_node_calls_today: ["gauge", ["network", "node"], "Calls of this day (UTC)", NONE],
  engine_node_calls_limit: ["gauge", ["network", "node"], "Calls that are allowed per day", NONE],
  engine_node_calls_per_second: [
    "gauge",
    ["network", "node"],
    "Calls per second that a node is sent at most now",
    NONE,
  ],
  engine_node_suspended_seconds: [
    "gauge",
    ["network", "node"],
    "For how much longer a node answers nothing, as it said itself",
    "Again and again: lower `<NETWORK>_CALLS_PER_SECOND`",
  ],
  engine_node_cooling_calls: [
    "gauge",
    ["network", "node"],
    "Single calls that a node could not answer and is not asked now",
    NONE,
  ],
  engine_node_unserved_calls: [
    "gauge",
    ["network", "node"],
    "Paths that a node said it does not serve",
    "Give it away for a full node",
  ],
  engine_callback_attempts_total: [
    "counter",
    ["result"],
    "Attempts to deliver a callback: `delivered`, `retry` (tried again), `failed` (no try is left), " +
    "`released` (given back untried)",
    "`failed` of one merchant: `deno task admin callbacks status <merchant>`",
  ],
  engine_callbacks_in_flight: ["gauge", [], "Deliveries under way", NONE],
  engine_callbacks_unmarked: ["gauge", [], "Deliveries that are not written down yet", NONE],
  engine_callbacks_waiting: [
    "gauge",
    [],
    "Events that wait for their delivery, 10,000 at most",
    "Growing: look at the endpoints that fail",
  ],
  engine_callbacks_oldest_seconds: [
    "gauge",
    [],
    "Age of the oldest waiting event of a merchant whose endpoint is not paused, of the first 1,000; " +
    "0 without one",
    "Above a minute: " + LOG.toLowerCase(),
  ],
  engine_callbacks_paused_endpoints: [
    "gauge",
    [],
    "Endpoints that did not answer and are only probed",
    "Tell the merchants that `deno task admin callbacks list` names",
  ],
  engine_callbacks_lost_marks_total: [
    "counter",
    [],
    "Deliveries that the database refused to keep, which are made again",
    LOG,
  ],
  engine_callbacks_held_marks: [
    "gauge",
    [],
    "Deliveries that cannot be written down as something else holds their rows",
    "End that transaction",
  ],
  engine_callbacks_refused_claims: [
    "gauge",
    [],
    "Merchants whose events the database refuses to hand out",
    LOG,
  ],
  engine_callbacks_unsendable_total: [
    "counter",
    [],
    "Attempts for which no request could be made",
    LOG,
  ],
  engine_callbacks_without_secret: [
    "gauge",
    [],
    "Merchants whose events wait as their secret cannot be opened",
    'See "The key of the callback secrets" in incidents.md',
  ],
  engine_callbacks_secrets_unreadable: [
    "gauge",
    [],
    "Merchants with an endpoint whose secret is encrypted with a key that is not configured",
    'See "The key of the callback secrets" in incidents.md',
  ],
  engine_callbacks_secrets_of_earlier_keys: [
    "gauge",
    [],
    "Merchants with a secret that is encrypted with a key of `CALLBACK_SECRETS_EARLIER_KEYS`",
    "0: the earlier keys may go",
  ],
  engine_callbacks_sender_restarts_total: [
    "counter",
    [],
    "How often the sender was started again",
    LOG,
  ],
  engine_callbacks_sender_away_seconds: [
    "gauge",
    [],
    "Since the sender ended that nothing replaces yet; 0 while one runs",
    LOG,
  ],
  engine_callbacks_name_lookups: [
    "gauge",
    [],
    "Names of callbacks' hosts that are looked up now",
    "8 for minutes: look at the machine's name servers",
  ],
  engine_callbacks_name_lookups_waiting: [
    "gauge",
    [],
    "Names of callbacks' hosts that wait for others to be looked up",
    NONE,
  ],
  engine_callbacks_name_lookups_refused_total: [
    "counter",
    [],
    "Names of callbacks' hosts that found no turn in time",
    "Look at the machine's name servers",
  ],
  engine_journal_batches_total: ["counter", [], "Batches that were committed", NONE],
  engine_journal_messages_total: ["counter", [], "Messages that were answered", NONE],
  engine_journal_waiting_messages: [
    "gauge",
    [],
    "Messages in the merchants' mailboxes",
    "High for minutes: the database is slow",
  ],
  engine_journal_batch_age_seconds: [
    "gauge",
    [],
    "How long the batch at hand is under way; 0 without one",
    "Above 15 s the node is unready: look at the database",
  ],
  engine_journal_active_merchants: ["gauge", [], "Merchants in memory", NONE],
  engine_journal_suspended_merchants: [
    "gauge",
    [],
    "Merchants that wait for a row which another transaction holds",
    'See "When one merchant is answered 503 and others are not" in incidents.md',
  ],
  engine_journal_batches_given_up_total: [
    "counter",
    [],
    "Batches whose senders were answered that they failed, or that nothing certain is known",
    LOG,
  ],
  engine_journal_quarantined_messages_total: [
    "counter",
    [],
    "Messages that were quarantined as they fail even alone",
    "`deno task admin inbox`",
  ],
  engine_inbox_waiting_rows: [
    "gauge",
    [],
    "Rows of the inbox that no merchant has taken yet, 10,000 at most",
    "Growing: " + LOG.toLowerCase(),
  ],
  engine_inbox_quarantined_rows: [
    "gauge",
    [],
    "Rows of the inbox that wait for an operator or for a proof, 10,000 at most",
    "`deno task admin inbox`",
  ],
  engine_database_figures_age_seconds: [
    "gauge",
    [],
    "Since the figures of the database were last read: inbox, callbacks that wait, approvals, holds, " +
    "unknown transfers, blocks to read again",
    "Above a minute: look at the database",
  ],
  engine_actor_quarantined_messages_total: [
    "counter",
    ["actor"],
    "Messages of other actors that were quarantined",
    LOG,
  ],
  engine_actor_busy_seconds: [
    "gauge",
    [],
    "How long the message at hand has taken the actor that it has taken longest",
    "Above three minutes: restart the service, and report it with the log",
  ],
  engine_timers_broken: [
    "gauge",
    [],
    "Timers that cannot be delivered",
    "Restart the service, and report it with the log",
  ],
  engine_kept_times_bounded_total: [
    "counter",
    [],
    "Kept times that a wrong clock had put off, and that were taken back",
    "See that the clocks are right",
  ],
  engine_periodic_age_seconds: [
    "gauge",
    ["task"],
    "Since periodic work was last completed",
    LOG,
  ],
  engine_clock_ahead_of_database_seconds: [
    "gauge",
    [],
    "How far this machine's clock is ahead of the database's; negative: behind",
    "Above a second: keep the machines in step by NTP",
  ],
  engine_clock_database_jumps_total: [
    "counter",
    [],
    "How often the database's clock has jumped",
    "Keep the machines in step by NTP",
  ],
  engine_clock_database_age_seconds: [
    "gauge",
    [],
    "How long ago the database last gave its time",
    "Above a minute: look at the database",
  ],
  engine_database_connections: [
    "gauge",
    ["pool", "use", "state"],
    "Connections: `open`, `busy`",
    NONE,
  ],
  engine_database_connections_limit: ["gauge", ["pool", "use"], "Most connections of a pool", NONE],
  engine_database_pool_exhausted_seconds: [
    "gauge",
    ["pool", "use"],
    "For how long all connections of a pool have been busy without a break",
    "Above 10 s: look at the database, then at `DATABASE_CONNECTIONS`",
  ],
  engine_database_lists_waiting: ["gauge", [], "Lists that wait for their turn", NONE],
  engine_database_lists_refused_total: [
    "counter",
    [],
    "Lists that found no turn in time",
    "Growing: look at the database",
  ],
  engine_addresses_held_back: [
    "gauge",
    [],
    "1 while no deposit address is handed out, as the signer has another wallet or none was seen",
    "`deno task signer status`: the wallets differ",
  ],
  engine_address_mismatches_total: [
    "counter",
    [],
    "Addresses of the database that are not the wallet's own",
    'Somebody writes to the database: see "Addresses are held back" in incidents.md',
  ],
  engine_address_lists_waiting: [
    "gauge",
    [],
    "Lists of addresses that are being compared with the wallet, in turns by merchant",
    NONE,
  ],
  engine_address_lists_oldest_seconds: ["gauge", [], "Age of the oldest of them", NONE],
  engine_address_lists_refused_total: [
    "counter",
    ["by"],
    "Lists of addresses that were answered 503: their merchant had enough under way (`merchant`), or " +
    "there was no room or no time for them (`all`)",
    NONE,
  ],
  engine_addresses_waiting: [
    "gauge",
    ["network"],
    "Requests that wait for a fresh deposit address",
    NONE,
  ],
  engine_addresses_oldest_wait_seconds: ["gauge", ["network"], "Age of the oldest of them", NONE],
  engine_addresses_refused_total: [
    "counter",
    ["network"],
    "Requests for a fresh deposit address that got none",
    "Another transaction holds the row of `hub.wallet`: end it",
  ],
  engine_failover_hold: [
    "gauge",
    ["network"],
    "1 while payouts are held since the database has another history",
    "`deno task admin failover`",
  ],
  engine_unknown_spends: [
    "gauge",
    ["network"],
    "Final transfers out of the service's wallets that the books do not know and that wait for a decision",
    "`deno task admin failover`; it may be a theft",
  ],
  engine_unproven_hands: [
    "gauge",
    ["network"],
    "Transactions that nodes call the hot wallet's, unknown to the books, and whose signature no node has shown",
    "`deno task admin treasury adopt <network> <txid>` and `not-ours`; payouts go on",
  ],
  engine_reconcile_differences: [
    "gauge",
    ["scope"],
    "Differences that the newest comparison of the books found",
    "`deno task reconcile`",
  ],
  engine_reconcile_unchecked: [
    "gauge",
    ["scope"],
    "Rules that it could not compare",
    "`deno task reconcile` has the reasons",
  ],
  engine_reconcile_finished_timestamp_seconds: [
    "gauge",
    ["scope"],
    "When the books were last compared, Unix seconds",
    LOG,
  ],
  engine_reconcile_duration_seconds: ["gauge", ["scope"], "How long that took", NONE],
  engine_http_requests_total: [
    "counter",
    ["method", "route", "status"],
    "Requests by method, route and status",
    "Many of status 500: " + LOG.toLowerCase(),
  ],
  engine_http_request_duration_seconds: [
    "histogram",
    ["method", "route"],
    "Time from a request's arrival to its answer",
    NONE,
  ],
  engine_http_changes_under_way: [
    "gauge",
    [],
    "Requests that change something, between their heads and their answers",
    NONE,
  ],
  engine_http_changes_crowded_seconds: [
    "gauge",
    [],
    "How long changes have been refused as too many are under way; 0: none is",
    'Above a minute: see "When one merchant is answered 503 and others are not" in incidents.md',
  ],
  engine_http_changes_refused_total: [
    "counter",
    [],
    "Changes that were answered 503, as too many requests were under way",
    "More nodes, or a faster database",
  ],
  engine_http_connections: ["gauge", ["listener"], "Connections from outside", NONE],
  engine_http_connections_limit: ["gauge", ["listener"], "Connections at most", NONE],
  engine_http_connections_ended_total: [
    "counter",
    ["listener", "reason"],
    "Connections that were ended or refused, by reason",
    "Many by `address`: name your proxy in `TRUSTED_PROXIES`",
  ],
  engine_http_accept_failures_total: [
    "counter",
    ["listener"],
    "Accepts that failed, as without a free descriptor",
    "Raise `LimitNOFILE`; the log has the reason (`http.accept_failed`)",
  ],
  engine_http_connections_reset_total: [
    "counter",
    ["listener"],
    "Connections that were reset before they were accepted, which costs others nothing",
    "A few a second: health checks of a balancer; thousands: a flood, for the firewall",
  ],
} as const satisfies Readonly<Record<string, Row>>;

/** Name of a metric. */
export type MetricName = keyof typeof METRICS;

const BY_NAME: ReadonlyMap<string, Row> = new Map(Object.entries(METRICS));

/** A metric's row. @throws when the table has none of that name */
export function metricOf(name: string): {
  readonly name: string;
  readonly type: Row[0];
  readonly help: string;
  readonly labelNames: string[];
} {
  const row = BY_NAME.get(name);
  if (row === undefined) throw new Error(`Cannot measure what the table does not have: ${name}`);
  const [type, labelNames, help] = row;
  return { name, type, help: help.replaceAll("`", ""), labelNames: [...labelNames] };
}

/** The text of `docs/metrics.md`. */
export function metricsDocument(): string {
  const rows = Object.entries<Row>(METRICS).map(([name, [type, labels, meaning, todo]]) =>
    `| \`${name}\` | ${type} | ${
      labels.map((label) => `\`${label}\``).join(", ")
    } | ${meaning} | ${todo} |`
  );
  return `# Metrics

Made by \`deno task metrics\` of \`api/http/metric_table.ts\`. They are served at \`/metrics\` of the operators'
address, each as of the moment it is read; counters begin anew with the process. Rules that wake a person
are in [alerts.yml](alerts.yml), a dashboard in [dashboard.json](dashboard.json), the remedies in
[incidents.md](incidents.md).

| Metric | Type | Labels | Meaning | What to do |
|---|---|---|---|---|
${rows.join("\n")}
`;
}
