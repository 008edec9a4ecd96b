/**
 * Every event that is logged, with its level and words: a new event is one line. `{...}` are its fields;
 * `docs/logs.md` is made of this table.
 *
 * @module
 */

/** Weight of an event: `fatal` and `error` are for a person, `warning` for the morning. */
export type Level = "debug" | "info" | "warning" | "error" | "fatal";

/** The events by their names; the part before the dot is the area. */
export const EVENTS = {
  "service.serving": ["info", "{version} serving on {url}"],
  "service.serving_operators": ["info", "health and metrics on {url}"],
  "service.draining": ["info", "no longer ready, still serving for {seconds} s"],
  "service.stopping": ["info", "stopping"],
  "service.stopped": ["info", "stopped"],
  "traces.failed": ["warning", "traces are switched off until the next start: {reason}"],
  "http.unrouted_failed": ["error", "request {request} failed: {reason}"],
  "http.key_use_unrecorded": ["debug", "cannot record the use of keys: {reason}"],
  "http.authentication_failed": [
    "warning",
    "{failures} failed authentications from {address}, now at {route} ({request})",
  ],
  "http.request_failed": ["error", "request {request} to {method} {path} failed: {reason}"],
  "http.accept_failed": ["error", "connections cannot be accepted, tried again: {reason}"],
  "http.connections_refused": [
    "warning",
    "connections are refused as there are too many, lastly of {address}",
  ],
  "http.connection_unserved": ["debug", "a connection ended before it was served: {reason}"],
  "http.connection_ended": ["debug", "a connection ended by itself: {reason}"],
  "http.request_escaped": ["error", "a request failed outside of its route: {reason}"],
  "audit.refusal_unrecorded": [
    "warning",
    "cannot record a refused {action} of {subject}: {reason}",
  ],
  "journal.wake_failed": ["warning", "cannot wake all merchants yet, trying again: {reason}"],
  "journal.answer_lost": ["warning", "the answer to a commit was lost: {reason}"],
  "journal.stops_unread": ["error", "it cannot be read where signing is stopped: {reason}"],
  "journal.row_not_quarantined": [
    "warning",
    "an inbox row cannot be quarantined now, it is met again: {txid}: {reason}",
  ],
  "journal.merchant_unknown": [
    "error",
    "a message names a merchant that does not exist: {merchant}",
  ],
  "journal.message_quarantined": [
    "error",
    "a message broke an assumption and is quarantined: {type} of {merchant}: {reason}",
  ],
  "journal.rows_retried": ["warning", "{count} inbox rows that were quarantined are tried again"],
  "journal.batch_given_up": ["error", "a batch was given up: {reason}"],
  "journal.commit_unknown": [
    "error",
    "it cannot be found out now what became of a commit: {reason}",
  ],
  "journal.commit_asked_again": [
    "warning",
    "it cannot be found out yet what became of a commit, asking again: {reason}",
  ],
  "journal.row_unreadable": [
    "error",
    "an inbox row cannot be read and is quarantined: {txid}: {reason}",
  ],
  "journal.inboxes_unread": [
    "error",
    "the inboxes of {count} merchants cannot be read, trying them apart: {reason}",
  ],
  "journal.inbox_unread": ["error", "the inbox of {merchant} cannot be read: {reason}"],
  "journal.audited_refused": [
    "warning",
    "{count} audited commands are refused, as a row that all need is locked: {reason}",
  ],
  "journal.key_taken": [
    "info",
    "a unique key was taken meanwhile, deciding {count} merchants again",
  ],
  "journal.merchants_wait": [
    "warning",
    "{count} merchants wait, as one of their rows is locked or a statement is slow: {reason}",
  ],
  "journal.statement_slow": [
    "warning",
    "a statement for {count} merchants took {ms} ms, trying them apart: {reason}",
  ],
  "journal.batch_refused": [
    "warning",
    "the database refused a batch of {count} merchants, trying again: {reason}",
  ],
  "journal.batch_split": [
    "error",
    "a batch of {count} merchants failed, trying them apart: {reason}",
  ],
  "journal.message_broken": [
    "error",
    "a message cannot be carried out and is quarantined: {type} of {merchant}: {reason}",
  ],
  "actor.reloaded": ["warning", "{kind}/{id} {what}: {reason}"],
  "actor.message_quarantined": [
    "error",
    "{kind}/{id} cannot handle a message, it is quarantined: {content}",
  ],
  "periodic.failed": ["warning", "cannot {name}, trying again: {reason}"],
  "timer.poll_failed": ["warning", "cannot look for due timers, trying again: {reason}"],
  "timer.broken": ["error", "a timer cannot be delivered: {which}: {reason}"],
  "deposit.expired": ["info", "deposit {payment} can no longer become final: {txid}"],
  "deposit.unproven_expiry": [
    "error",
    "{network}: {payment} stays pending as blocks before {from} were not all read",
  ],
  "deposit.claimed": ["info", "{network}: {txid} was claimed by {merchant}: {count} transfers"],
  "deposit.proof_dropped": [
    "warning",
    "{network}: {txid} to {to} is credited unproven, as the bound was changed",
  ],
  "deposit.proof_not_postponed": ["error", "{network}: proofs cannot be postponed: {reason}"],
  "deposit.proof_failed": ["error", "{network}: block {height} cannot be proven: {reason}"],
  "deposit.proof_not_credited": [
    "error",
    "{network}: {txid} is proven and cannot be credited yet: {reason}",
  ],
  "deposit.claim_doubted": [
    "warning",
    "{network}: {txid} is not credited to {merchant} for now: {reason}",
  ],
  "deposit.contested_held": [
    "warning",
    "{network}: what was read differently is held by another transaction: {reason}",
  ],
  "deposit.contested": [
    "warning",
    "{network}: {txid} was read differently than before, and waits for a second node",
  ],
  "deposit.proof_unset": [
    "warning",
    "{network}: _DEPOSIT_PROOF_ABOVE is not set here, and a node that has it was heard of within {seconds} s: large deposits go on to need a second node until there is none",
  ],
  "deposit.too_large": [
    "fatal",
    "{network}: a transfer is quarantined as no books can hold its amount: {txid} to {to}",
  ],
  "deposit.misdirected": [
    "warning",
    "{network}: {amount} {currency} to {to} wait for a person, its address was issued on {issuedOn}: {txid}",
  ],
  "deposit.renamed": [
    "fatal",
    "{network}: {txid} to {to} is quarantined: block {height} has it in the place of {bookedAs}, one node has renamed it",
  ],
  "deposit.misnamed": [
    "fatal",
    "{network}: {amount} {currency} that block {height} has paid to {to} of {merchant} are not credited, a node tells them by the id of {bookedAmount} in block {bookedHeight}: {txid}",
  ],
  "deposit.unproven": ["warning", "{network}: {txid} to {to} is not credited yet: {reason}"],
  "deposit.disputed": [
    "fatal",
    "{network}: {txid} to {to} is not credited, a second node disputes it: {reason}",
  ],
  "deposit.seen": [
    "debug",
    "{payment} of {merchant} was seen: {amount} {currency} on {network}: {txid}",
  ],
  "deposit.confirmed": [
    "debug",
    "{payment} of {merchant} is credited: {amount} {currency} on {network}: {txid}",
  ],
  "deposit.failed": [
    "warning",
    "{payment} of {merchant} failed: {amount} {currency} on {network}: {reason}",
  ],
  "payout.waits": [
    "warning",
    "{network}: {count} {kind} transfers begin to wait, {reason}: {detail}",
  ],
  "payout.confirmed": [
    "debug",
    "{kind} {payment} of {merchant} is paid: {amount} {currency} on {network}: {txid}",
  ],
  "payout.failed": [
    "warning",
    "{kind} {payment} of {merchant} failed and is refunded: {amount} {currency} on {network}: {reason}",
  ],
  "payout.cancelled": [
    "info",
    "{kind} {payment} of {merchant} is cancelled: {amount} {currency} on {network}: {reason}",
  ],
  "payout.approval": [
    "info",
    "{kind} {payment} of {merchant} waits for an administrator: {amount} {currency} on {network}",
  ],
  "transfer.expired": ["warning", "{network}: {transfer} expired unseen and is queued again"],
  "transfer.dead": ["error", "{network}: {transfer} expired too often and is given up"],
  "transfer.unproven": ["error", "{network}: {transfer} is {reason}"],
  "transfer.not_broadcast": ["error", "{network}: {txid} cannot be broadcast: {reason}"],
  "transfer.cancelled": [
    "info",
    "{network}: the nonce of {transfer} was taken out of use in block {height}: {txid}",
  ],
  "transfer.unexpected": [
    "fatal",
    "{network}: {transfer} did not pay what was intended, see block {height}: {txid}",
  ],
  "transfer.final": ["info", "{network}: {transfer} is final in block {height}: {txid} paid"],
  "transfer.revived": [
    "fatal",
    "{network}: {transfer} had ended without being paid and is in a block: {txid}",
  ],
  "transfer.end_unproven": [
    "warning",
    "{network}: {transfer} has failed or was cancelled by one node's word, which counts once a second node, or its block, proves it",
  ],
  "transfer.end_held": [
    "error",
    "{network}: {transfer} is final, and another transaction holds its row: its block is read again",
  ],
  "transfer.end_refused": [
    "error",
    "{network}: nonce {nonce} of {payer} is used, and its end cannot be written ({reason}): its block is read again: {txid}",
  ],
  "transfer.disputed": ["fatal", "{network}: {transfer} is {reason}"],
  "transfer.broadcast": ["debug", "{network}: {txid} was broadcast: {category} {code} {words}"],
  "transfer.broadcast_unclear": [
    "info",
    "{network}: {txid} was broadcast, the node's answer is unclear: {code} {words}",
  ],
  "transfer.refused": ["warning", "{network}: a node refuses {txid}: {code} {words}"],
  "transfer.failed": [
    "warning",
    "{network}: {transfer} failed on the chain in block {height}: {txid}: {reason}",
  ],
  "treasury.part_failed": [
    "warning",
    "{network}: the poll of {name} has failed, the others go on: {reason}",
  ],
  "treasury.transfers_left": [
    "info",
    "{count} transfers are left for another try, the others are signed: {reason}",
  ],
  "treasury.spend_known": ["warning", "{network}: what left a wallet is known by now: {txid}"],
  "treasury.end_written": ["info", "{network}: the end of {transfer} is written by now"],
  "treasury.end_denied": [
    "warning",
    "{network}: block {height} was read again without the end of {transfer}, and a second node has none there either: it is off the list",
  ],
  "treasury.block_waits": [
    "warning",
    "{network}: block {height} cannot be read again yet ({reason})",
  ],
  "treasury.block_unreadable": [
    "error",
    "{network}: block {height} cannot be read again ({reason}), after {tries} tries: what waits for it is neither paid nor given up",
  ],
  "treasury.turn_kept": ["warning", "cannot give up a turn, it runs out: {late}"],
  "treasury.scan_awaited": [
    "warning",
    "{network}: nothing is signed before block {height} is read, the scan is at {read}",
  ],
  "treasury.scan_reached": ["info", "{network}: block {height} is read, what is queued is signed"],
  "treasury.lane_stopped": ["error", "{network}: nothing is signed with nonces now: {reason}"],
  "treasury.lane_closed": [
    "error",
    "{network}: nothing is signed with nonces of {wallet}, others go on: {reason}",
  ],
  "treasury.nonce_unread": [
    "warning",
    "{network}: next nonces of {count} wallets are not read, they are asked for again: {payer}: {reason}",
  ],
  "treasury.nonce_refused": [
    "warning",
    "{network}: nonce {nonce} of {payer} cannot be signed with ({purpose}): {reason}",
  ],
  "treasury.nonce_signed": [
    "info",
    "{network}: nonce {nonce} of {payer} is signed with ({purpose}): {txid}",
  ],
  "treasury.nonce_waits": ["warning", "{network}: nonce {nonce} waits for its price: {reason}"],
  "treasury.nonce_unpriced": [
    "error",
    "{network}: nonce {nonce} of {payer} cannot be priced, it is taken out of use once another stands behind it, the others go on: {reason}",
  ],
  "treasury.not_signed": [
    "warning",
    "{network}: another node has signed, or signing was stopped: {count} signatures wait",
  ],
  "treasury.answer_unasked": [
    "error",
    "{network}: an answer of the signer is passed over, it was not asked for: {id}",
  ],
  "treasury.commit_split": [
    "error",
    "{network}: {count} signatures cannot be committed together, each is tried: {reason}",
  ],
  "treasury.commit_waits": [
    "warning",
    "{network}: what is left of a batch waits for the database: {reason}",
  ],
  "treasury.payer_coin_unread": [
    "warning",
    "{network}: the coin of address {payer} cannot be read, nothing of it is replaced now: {reason}",
  ],
  "treasury.internal_waits": ["warning", "{network}: internal transfers wait for a node: {reason}"],
  "wallet.balance_unread": [
    "warning",
    "{network}: the balance of {asset} cannot be read: {reason}",
  ],
  "wallet.low": ["error", "{network}: the hot wallet is low on {text}"],
  "wallet.enough": ["info", "{network}: the hot wallet has enough {name} again"],
  "wallet.unread": ["warning", "{network}: the hot wallet cannot be looked at: {reason}"],
  "wallet.lost_address_paid": [
    "error",
    "{network}: a lost address was paid, see deno task wallet unclaimed",
  ],
  "wallet.numbers_set_back": [
    "fatal",
    "{network}: the database was set back, as it numbers addresses that were handed out up to {index}; they are skipped and watched as lost; blocks since the copy that were read before are to be read again: see deno task admin rescan",
  ],
  "wallet.unknown_sweep": [
    "warning",
    "{network}: {amount} {currency} were swept from {from} by an unknown transaction: {txid}",
  ],
  "wallet.unknown_cold": [
    "error",
    "{network}: {amount} {currency} went to the cold wallet by a transaction that the books do not know, which stops nothing: {txid}",
  ],
  "wallet.unknown_spend": [
    "fatal",
    "{network}: nothing is signed any more: {amount} {currency} left {from} for {to} by a transaction that the books do not know, see deno task admin failover: {txid}",
  ],
  "wallet.hand_unproven": [
    "warning",
    "{network}: a node says that the hot wallet has sent a transaction that the books do not know; its signature is looked at: {txid}",
  ],
  "wallet.hand_denied": [
    "error",
    "{network}: a node said wrongly that the hot wallet has sent a transaction, its signature is that of {sender}: {txid}",
  ],
  "wallet.foreign_hand": [
    "fatal",
    "{network}: nothing is signed any more: the hot wallet was used by a transaction that the books do not know, see deno task admin treasury adopt: {txid}",
  ],
  "wallet.unattested": ["error", "the wallet cannot be attested: {reason}"],
  "token.unread": ["warning", "{network}: the switches of {currency} cannot be read: {reason}"],
  "token.switched": ["error", "{network}: {currency}: {text}"],
  "token.decimals": ["info", "{currency} on {network} has {decimals} decimals"],
  "fee.known": ["info", "{network}: the cost of a {currency} transfer is known again"],
  "fee.capped": [
    "warning",
    "{network}: the dynamic fee of {currency} is made of the fee cap, as a transfer costs more than it: {reason}",
  ],
  "fee.failed": [
    "error",
    "{network}: the cost of a {currency} transfer cannot be estimated: {reason}",
  ],
  "fee.unknown": ["warning", "{network}: no cost of a {currency} transfer, as {failure}: {reason}"],
  "cold.given_up": [
    "warning",
    "{network}: {transfer} to the cold wallet is given up, payouts need the money",
  ],
  "cold.queued": ["info", "{network}: {amount} {currency} go to the cold wallet as {transfer}"],
  "sweep.coin_differs": [
    "warning",
    "{network}: {given} coin were given to {address} by the books, {coin} are there",
  ],
  "sweep.step_withdrawn": [
    "warning",
    "{network}: {transfer} is taken back, it could not be signed: {why}",
  ],
  "sweep.energy_lost": [
    "warning",
    "{network}: {address} is taken to have no delegated energy: {detail}",
  ],
  "sweep.queued": ["info", "{network}: {kind} {transfer} of {amount} {currency} for {address}"],
  "sweep.coin_left": [
    "info",
    "{network}: {coin} coin stay on {address}, for its next sweep",
  ],
  "sweep.setup_queued": [
    "info",
    "{network}: {transfer} is queued, which sweeps need first: {destination}",
  ],
  "sweep.setup_given_up": [
    "info",
    "{network}: {transfer} is given up, as what sweeps need is there",
  ],
  "sweep.carried": [
    "info",
    "{network}: {count} transfers to {address} were carried by {transfer} already",
  ],
  "sweep.settled": [
    "warning",
    "{network}: {transfer} was settled by {actor} as {verdict}: {reason}",
  ],
  "sweep.uncounted": ["error", "{network}: sweeps cannot be counted: {reason}"],
  "sweep.written_off": [
    "warning",
    "{network}: {amount} {currency} of {address} were written off by {actor}: {reason}",
  ],
  "sweep.address_waits": [
    "warning",
    "{network}: {currency} of {address} waits, nodes are away: {reason}",
  ],
  "sweep.address_failed": [
    "error",
    "{network}: cannot look at {currency} of {address}, trying again: {reason}",
  ],
  "chain.reorganised": ["info", "{network} was reorganised below block {height}"],
  "chain.rescan_refused": [
    "error",
    "{network}: blocks {from} to {to} are not read again after {blocks}: {reason}",
  ],
  "chain.rescanned": ["info", "{network}: blocks {from} to {to} were read again: {blocks} blocks"],
  "chain.rescan_stopped": ["fatal", "{network} is not read again: {reason}"],
  "chain.catching_up": ["info", "{network} catches up from block {height} on: {left} blocks"],
  "chain.caught_up": [
    "info",
    "{network} has caught up at block {height}: {blocks} blocks in {seconds} s",
  ],
  "chain.progress": [
    "info",
    "{network} catches up: block {height}, {perSecond} blocks/s, {left} left{rest}",
  ],
  "chain.watched": ["info", "{network} is watched from block {height} on"],
  "chain.cursor_moved": [
    "debug",
    "{network}: the cursor is at {height} no longer, or in another history",
  ],
  "chain.head_uncompared": [
    "warning",
    "{network}: nothing is signed before newest blocks are compared with the books, it is tried again: {reason}",
  ],
  "chain.head_not_compared": [
    "error",
    "{network}: nodes show no newest blocks, signing goes on without a comparison of them with the books: {reason}",
  ],
  "chain.head_unknown": [
    "error",
    "{network}: block {head} or one below shows transactions of own wallets that the books do not know: nothing is signed before block {height} is read",
  ],
  "chain.head_behind": [
    "error",
    "{network}: the newest block {head} of all nodes is behind the clock, the books are not compared with what is newer: nothing is signed before block {height} is read",
  ],
  "chain.stopped": ["fatal", "{network} is read no further: {reason}, not {hash}"],
  "chain.refused": [
    "fatal",
    "nothing of {network} is credited or signed until its configuration is mended: {reason}",
  ],
  "chain.continued": ["warning", "{network} is read on, at block {height}"],
  "chain.block_waits": ["info", "{network} {view} block {height} is not readable yet ({reason})"],
  "chain.blocks_unbound": [
    "warning",
    "{network}: the hash of block {height} is not that of the fields that are known here, so that blocks are read a second " +
    "time when they are final",
  ],
  "chain.block_unreadable": [
    "error",
    "{network} {view} block {height} cannot be read ({reason}), after {tries} tries",
  ],
  "chain.slowed": [
    "warning",
    "{network} is polled every {seconds} s only: {left} of today's {limit} calls left",
  ],
  "chain.unreached": [
    "error",
    "{network} cannot be reached, it is checked when it answers: {reason}",
  ],
  "node.calls_unkept": [
    "warning",
    "cannot keep how often nodes were asked, trying again: {reason}",
  ],
  "node.key_shared": [
    "warning",
    "the API key of {network} is sent to all of its nodes, of several providers: {nodes}",
  ],
  "node.answers": ["info", "Node {node} answers again"],
  "node.call_failed": [
    "info",
    "Node {node} could not answer one call, it is asked the others: {reason}",
  ],
  "node.wrong_chain": ["fatal", "{reason}"],
  "node.failed": [
    "warning",
    "Node {node} failed ({category}), left alone for {pause} ms: {reason}",
  ],
  "node.path_unknown": ["info", "Node {node} does not know {path}, asked for {instead} instead"],
  "callback.marks_failed": ["error", "cannot write down {count} deliveries: {reason}"],
  "callback.marks_held": ["warning", "{count} attempts of {merchants} are written later: {reason}"],
  "callback.mark_refused": [
    "error",
    "attempt {attempt} of {callback} is refused by the database: {reason}",
  ],
  "callback.mark_given_up": [
    "error",
    "attempt {attempt} of {callback} is given up, its event is sent again: {reason}",
  ],
  "callback.secret_closed": [
    "fatal",
    "callbacks of {merchant} wait as no configured key opens their secret",
  ],
  "callback.unsendable": ["error", "{callback} cannot be sent: {reason}"],
  "callback.unanswered": [
    "warning",
    "{callback} was not acknowledged by the endpoint of {merchant}, attempt {attempt}: {reason}",
  ],
  "callback.claim_refused": [
    "error",
    "events of {merchant} cannot be claimed, trying again in {pauseMs} ms: {reason}",
  ],
  "callback.not_drained": [
    "warning",
    "{count} deliveries are not written down in time, and are made again",
  ],
  "callback.claim_failed": ["error", "cannot claim events: {reason}"],
  "callback.broke": ["error", "delivery of {callback} broke: {reason}"],
  "callback.work_failed": ["error", "cannot {what}: {reason}"],
  "callback.secrets_encrypted": [
    "info",
    "encrypted the callback secrets of {sealed} merchants with the key {keyId}",
  ],
  "callback.secrets_unreadable": [
    "fatal",
    "the callback secrets of {count} merchants fit neither CALLBACK_SECRETS_KEY nor a key of CALLBACK_SECRETS_EARLIER_KEYS, so that their callbacks wait; the first are {merchants}",
  ],
  "callback.secrets_uncounted": ["warning", "cannot count the callback secrets: {reason}"],
  "failover.history_told": ["warning", "the database tells its history: {told}"],
  "failover.history_changed": [
    "fatal",
    "{newest}: the database continues another history ({before}, now {history}): payouts wait",
  ],
  "failover.addresses_watched": [
    "warning",
    "{network}: {lost} addresses that may have been handed out are watched",
  ],
  "failover.records_lost": [
    "error",
    "{count} acknowledged records are lost, see deno task admin failover",
  ],
  "failover.record_lost": [
    "error",
    "lost: {kind} {payment} of {merchant}, {amount} {currency} to {destination}",
  ],
  "failover.hold_clock": [
    "error",
    "{network}: {failoverId} waits, as the newest block {height} of {time} and the database's clock are too far apart: one of them is wrong",
  ],
  "failover.hold_waits": ["warning", "{network}: the hold waits for a node: {reason}"],
  "failover.signed_before": [
    "warning",
    "{network}: {transfer} was signed before, and waits for its block or expiry",
  ],
  "failover.signed_unread": [
    "warning",
    "{network}: what was signed before is asked for again: {reason}",
  ],
  "failover.nonce_waits": [
    "error",
    "{network}: the signer gave nonce {nonce} of {payer} to a transfer, and lower ones are known to none: the hold goes on until they are taken out of use",
  ],
  "failover.nonce_held": [
    "warning",
    "{network}: nonce {nonce} of {payer} is promised to {transfer} again once no other transaction holds that and its earlier nonce has ended",
  ],
  "failover.not_adopted": [
    "error",
    "{network}: what was signed before for {transfer} cannot be adopted: {reason}",
  ],
  "failover.compared": [
    "warning",
    "{network}: all that was signed before {failoverId} was compared",
  ],
  "failover.hold_over": [
    "warning",
    "{failoverId} is over: everything was compared, payouts continue",
  ],
  "reconcile.rule_broke": ["error", "comparing broke: {rule}: {reason}"],
  "reconcile.wallet_begun": [
    "info",
    "{network}: the {asset} of the hot wallet is compared from block {height} on",
  ],
  "reconcile.wallet_filled": [
    "info",
    "{network}: {amount} {asset} came to the hot wallet from outside",
  ],
  "reconcile.part_failed": ["error", "{part} could not be compared: {reason}"],
  "reconcile.failed": ["error", "the books could not be compared: {reason}"],
  "reconcile.difference": ["fatal", "{where}: not so: {rule}: {subject}: {detail}"],
  "reconcile.unchecked": ["warning", "{where}: not compared: {rule}: {unchecked}"],
  "reconcile.compared": [
    "info",
    "books compared ({scope}, {ms} ms): {differences} differences, {unchecked} not compared",
  ],
  "reconcile.under_way": [
    "info",
    "comparing the books ({scope}): {rule}: part {part} of {parts}",
  ],
  "reconcile.books_rule_broke": ["error", "comparing broke: {rule}: {reason}"],
  "addresses.mismatch": [
    "error",
    "an address of the database is not the wallet's own and is handed out to no-one: {network} {index} {address}",
  ],
  "addresses.underivable": ["error", "an address cannot be derived: {network} {index}: {reason}"],
  "signer.folder_taken": [
    "error",
    "Cannot start as another signer runs on this folder (process {owner}): {folder}",
  ],
  "signer.without_cap": [
    "warning",
    "{asset} is signed for without a cap per transaction and per day",
  ],
  "signer.serving": ["info", "signing for {networks} at {socket}"],
  "signer.stopping": ["info", "stopping"],
  "signer.start_refused": ["error", "Cannot start: {reason}"],
  "signer.database_away": ["error", "the database cannot be reached: {reason}"],
  "signer.pause_unread": ["error", "the pause cannot be read, nothing is signed: {reason}"],
  "signer.accept_failed": ["warning", "cannot accept a connection: {reason}"],
  "signer.peers_full": ["error", "a peer was turned away as there are {count} already"],
  "signer.peer_failed": ["warning", "a peer was cut off: {reason}"],
  "signer.request_failed": ["error", "a request failed: {reason}"],
  "signer.peer_slow": ["warning", "a peer was too slow and is cut off"],
  "signer.still_failing": ["error", "{subject} still fails, {count} times by now: {reason}"],
  "signer.works_again": ["info", "{subject} works again after {count} failures"],
  "signer.journal_cut": [
    "warning",
    "the last {count} bytes were cut off by a crash, no signature of them has left: {path}",
  ],
  "signer.open": ["info", "the signer signs"],
  "signer.closed": ["error", "nothing is signed, payouts wait: {trouble}"],
  "rates.malformed": ["error", "{source} cannot be understood: {reason}"],
  "rates.missing": ["warning", "no {priced} rates from {source}: {reason}"],
  "clock.unread": ["warning", "cannot read the database's clock, trying again: {reason}"],
  "clock.jumped": ["error", "the database's clock has jumped by {seconds} s, it is followed"],
  "clock.times_bounded": [
    "error",
    "{count} {name} were put off by a clock that was wrong, and are due now",
  ],
  "database.migrating": ["info", "applying {migration}"],
  "database.migrated": ["info", "{migration} applied in {seconds} s"],
  "database.notice": ["debug", "notice: {content}"],
  "database.connection_lost": ["warning", "a connection was lost while it was set up: {reason}"],
  "database.primary": ["warning", "the primary is {host}:{port} now, timeline {timeline}"],
  "database.silent": ["warning", "the database does not answer, asking again: {reason}"],
  "postgres.folder_kept": ["warning", "cannot remove a half-made cluster: {path}: {reason}"],
  "postgres.over_tcp": ["info", "the embedded PostgreSQL is reached over TCP as {reason}"],
  "postgres.socket_lost": [
    "warning",
    "the socket of the embedded PostgreSQL is gone from {folder}, starting the server again: keep the folder out of what is cleaned up",
  ],
  "postgres.died": ["error", "the embedded PostgreSQL died (process {pid}); starting it again"],
  "postgres.not_restarted": ["error", "the embedded PostgreSQL does not start again: {reason}"],
  "postgres.left_running": [
    "info",
    "leaving the embedded PostgreSQL running, as another process uses it",
  ],
  "postgres.lock_removed": [
    "warning",
    "removing a stale lock file: process {pid} is no PostgreSQL server",
  ],
  "worker.not_closed": ["warning", "the {name} did not close by itself"],
  "worker.ended": ["error", "the {name} ended and starts again in {pause} ms: {reason}"],
  "devchain.port_taken": [
    "warning",
    "{network}: the development chain's port is taken: {kept}, choosing another",
  ],
  "devchain.message": ["error", "{network}: {content}"],
  "devchain.request_failed": ["error", "Cannot answer a request on {network}: {reason}"],
  "devchain.anvil_left": [
    "warning",
    "{network}: anvil on {url} may not be ended, the next start uses it",
  ],
  "devchain.anvil_restored": [
    "warning",
    "{network}: anvil had ended and is built up anew: {reason}",
  ],
  "devchain.block_failed": ["error", "{network}: a block could not be made: {reason}"],
} as const satisfies Readonly<Record<string, readonly [Level, string]>>;

export type EventName = keyof typeof EVENTS;
