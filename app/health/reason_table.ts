/**
 * The kinds of reasons of `/readyz`: a reason is a sentence for people, its kind is what alerts go by. The
 * first kind that a sentence matches is its own.
 *
 * @module
 */

const KINDS = {
  starting: /^starting: /,
  journal_halted: /^the journal does not move$/,
  database_pool: /^database: all connections for /,
  database_unread: /^database: .* cannot be told: /,
  database: /^database: /,
  clock: /^this machine's clock is |^the database's clock was last read | is from the future: /,
  journal_given_up: /^a batch of the journal was given up /,
  audit_held: /^commands that are audited are refused/,
  rows_held: / for a row that another transaction holds$/,
  signer: /^payouts wait: | payouts cannot be signed$/,
  chain_head_unreached: /'s newest blocks cannot be reached$/,
  chain_unreached: / was not reached yet$| cannot be reached$/,
  scan_awaited:
    / signs nothing before (?:block \d+ is read, \d+ are left|its newest blocks are compared with the books)$/,
  chain_lag: / is \d+ s behind, \d+ blocks$/,
  chain_head_stale: /'s newest blocks have not grown for \d+ minutes$/,
  chain_refused: / is read no further: Cannot use .* as its contract has /,
  chain_stopped: / is read no further: /,
  chain_unreadable: / block \d+ cannot be read(?: again)?: /,
  node_budget: / is read slowly as today's calls of its nodes run out$/,
  node_wrong_chain: /: node .* is of another chain$/,
  node_unserved: /: node .* does not serve /,
  node_suspended: /: node .* has suspended us for asking too much/,
  actor_busy: / has been busy for \d+ s$/,
  periodic_late: /^to .* was last completed \d+ s ago$/,
  timers_broken: /timers cannot be delivered$/,
  callback_secrets: /^callbacks of .* wait as no configured key opens their secret/,
  callback_claims: /^events of .* cannot be read for delivery$/,
  callback_marks: /deliveries cannot be written down as their rows are held$/,
  callback_sender: /^no callback is sent as the sender ended /,
  callback_names: /^names of callbacks' hosts were not looked up /,
  callbacks_untried: /^events wait that were never tried$/,
  inbox_quarantined: /^inbox rows were quarantined$/,
  inbox_misdirected: /^\d+ transfers came in on another network than their address$/,
  deposit_disputed: / large deposits that a second node disputes: /,
  deposit_unproven: / large deposits that a second node must prove: /,
  deposit_claims: / transfers wait for a deposit by hand that was not decided$/,
  contract_missing:
    / are enabled and passed over, as it has no contract$| were read without the contract of /,
  payout_unproven: / expired or failed payouts that a second node, or their block, must prove$/,
  lane_stopped: / signs nothing as /,
  lane_closed: / deposit addresses whose nonces are not those of the books$/,
  fees_high: / transactions have burned .* of its coin today, more than /,
  lane_capped: / transfers that wait as fees are above the cap$/,
  payout_over_cap: / payouts above the signer's cap per transaction that wait for a person/,
  payout_quarantined: / payouts that cannot be signed as they are/,
  payout_late: / has a payout that could be paid and waits for /,
  transfer_queued: / has a transfer that is queued for /,
  wallet_unreadable: / hot wallet cannot be asked how much /,
  wallet_low: / hot wallet is low on /,
  fee_fixed: / charges the fixed network fee for /,
  rates: /^exchange rates are not known/,
  sweep:
    / cannot sweep | cannot look at .* addresses that are to be swept$| has a top-up that is final for more than a day /,
  books_differ: /^the .* comparison of the books of .* found \d+ differences$/,
  books_late:
    /^the books were (?:last compared |not compared )|^the .* comparison of the books of .* left \d+ rules out$/,
  addresses_held: /^addresses are held back: /,
  address_mismatch: /^the database gave .* addresses since the start that are not the wallet's own/,
  address_lists: /^lists of addresses were given up/,
  addresses_refused: / addresses are not handed out: /,
  descriptors: /^descriptors are nearly used up|^connections could not be accepted /,
  connections: /^connections are nearly used up|^connections of one client address were refused /,
  changes_crowded: /^changes are refused for /,
  claims_crowded: / refuses claims for /,
  pages_crowded: /^hosted pages are refused for /,
  redeliveries_crowded: /^redeliveries are refused for /,
  event_loop: /^the event loop /,
  failover_hold: / payouts are held: the database has another history/,
  unknown_spends: / payouts are stopped: .* left wallets unknown to the books/,
  unproven_hands: / nodes call \d+ transactions the hot wallet's without /,
  history_untold: /^the database does not tell its history /,
  // the treasury's words on a token: after its network and its currency
  token_switched: /^[A-Z]\w+ [A-Z]{3,5}: /,
} as const satisfies Readonly<Record<string, RegExp>>;

export type ReasonKind = keyof typeof KINDS | "other";

/** The kinds, in the order in which they are tried; `other` is of none of them. */
export const REASON_KINDS: readonly string[] = [...Object.keys(KINDS), "other"];

export function kindOf(reason: string): string {
  const found = Object.entries(KINDS).find(([, pattern]) => pattern.test(reason));
  return found?.[0] ?? "other";
}
