// Made of docs/openapi.json by `deno task client-types`.

/** A transaction of the payout may be on its way */
export type AlreadySentError = {
  error: "Conflict";
  code: "already_sent";
  message: string;
  from: string;
  to: string;
};

/** The amount is zero or negative */
export type AmountNotPositiveError = {
  error: "Withdrawal amount must be greater than zero";
  code: "amount_not_positive";
};

export type ApiKey = {
  id: string;
  label: string;
  permissions: ("read" | "write" | "payout" | "deposit" | "admin:read" | "admin:write" | "admin:payments" | "admin:merchants" | "admin:keys" | "admin:settings" | "admin:treasury" | "admin:ingest")[];
  role: "MERCHANT" | "RESELLER" | "ADMIN";
  /** It has no payout right until another administrator than the one whom it counts as approves it: withdrawals and settlements with it are 403 */
  needsApproval: boolean;
  ipAllowlist: string[] | null;
  createdAt: Timestamp;
  expiresAt: Timestamp | null;
  /** To a few minutes */
  lastUsedAt: Timestamp | null;
};

export type ApiKeyCreated = {
  id: string;
  label: string;
  permissions: ("read" | "write" | "payout" | "deposit" | "admin:read" | "admin:write" | "admin:payments" | "admin:merchants" | "admin:keys" | "admin:settings" | "admin:treasury" | "admin:ingest")[];
  role: "MERCHANT" | "RESELLER" | "ADMIN";
  /** It has no payout right until another administrator than the one whom it counts as approves it: withdrawals and settlements with it are 403 */
  needsApproval: boolean;
  ipAllowlist: string[] | null;
  createdAt: Timestamp;
  expiresAt: Timestamp | null;
  /** The key itself; shown now and never again */
  apiKey: string;
};

export type ApiKeyRotated = {
  id: string;
  label: string;
  permissions: ("read" | "write" | "payout" | "deposit" | "admin:read" | "admin:write" | "admin:payments" | "admin:merchants" | "admin:keys" | "admin:settings" | "admin:treasury" | "admin:ingest")[];
  role: "MERCHANT" | "RESELLER" | "ADMIN";
  /** It has no payout right until another administrator than the one whom it counts as approves it: withdrawals and settlements with it are 403 */
  needsApproval: boolean;
  ipAllowlist: string[] | null;
  createdAt: Timestamp;
  expiresAt: Timestamp | null;
  /** The key itself; shown now and never again */
  apiKey: string;
  previous: {
    id: string;
    expiresAt: Timestamp;
  };
  /** Keys of the account that have lost their payout right until they are approved, as the merchant has made the key that it was handed its own */
  nowNeedApproval: string[];
};

export type Approval = {
  type: "withdrawal" | "settlement";
  id: string;
  merchantId: string;
  merchantName: string;
  currency: Currency;
  network: NetworkSymbol;
  amount: Decimal;
  totalFees: Decimal;
  /** Address on the network */
  destination: string;
  status: "PENDING_APPROVAL" | "APPROVAL_REQUIRED" | "PENDING";
  createdAt: Timestamp;
  /** Id of the key that asked for it; null: no key did */
  createdBy: string | null;
  /** signer_cap: above the signer's cap per transaction; nothing is to be approved, the cap is raised or the payout given up */
  waitsFor: "approval" | "signer_cap";
};

export type AuditLine = {
  id: string;
  merchantId: string | null;
  /** Id of the key that was used */
  actor: string;
  actorLabel: string | null;
  action: string;
  subject: string;
  before: unknown;
  after: unknown;
  /** Why it was refused; null: done */
  refused: string | null;
  requestId: string | null;
  createdAt: Timestamp;
};

/** No API key was sent */
export type AuthenticationRequiredError = {
  error: "Authentication required";
  code: "authentication_required";
};

export type Balance = {
  currency: Currency;
  network: NetworkSymbol;
  /** Amount for payouts and their fees */
  available: Decimal;
  /** Deposits that are not available yet, before fees: seen and not final, top-ups until they are swept, manual ones until they are confirmed. No payout is counted in it */
  pending: Decimal;
  /** Null where nothing ever moved */
  lastUpdatedAt: Timestamp | null;
};

export type BalanceList = {
  balances: BalanceOfPair[];
};

export type BalanceOfPair = {
  currency: Currency;
  network: NetworkSymbol;
  /** Amount for payouts and their fees */
  available: Decimal;
  /** Deposits that are not available yet, before fees: seen and not final, top-ups until they are swept, manual ones until they are confirmed. No payout is counted in it */
  pending: Decimal;
  withdrawalEnabled: boolean;
  /** Cost of a withdrawal on this network now; null when they are disabled */
  networkFee: Decimal | null;
  /** Fixed part of a withdrawal's commission now; null when they are disabled */
  baseFee: Decimal | null;
  /** Share of the amount that its commission takes besides; null when they are disabled */
  markupRate: string | null;
  /** The smallest `amount` of a withdrawal; null when they are disabled */
  minWithdrawal: Decimal | null;
  /** Available after the network fee; the commission is not taken off */
  maxWithdrawable: Decimal;
  /** The largest `amount` of a withdrawal that the balance pays with all its fees; 0 where that is below the pair's minimum */
  largestWithdrawal: Decimal;
  /** Null where nothing ever moved */
  lastUpdatedAt: Timestamp | null;
};

/** The amount is below the pair's minimum */
export type BelowMinimumError = {
  error: "Amount below minimum withdrawal";
  code: "below_minimum";
  minWithdrawal: Decimal;
  currency: Currency;
  network: NetworkSymbol;
};

/** The body has more than 64 KiB */
export type BodyTooLargeError = {
  error: "Request body too large";
  code: "body_too_large";
  message: string;
};

export type ChainOfNetwork = {
  network: NetworkSymbol;
  /** Newest final block that was read; moves money */
  solid: {
    height: number;
    time: Timestamp;
  } | null;
  /** Newest block that was seen; only informs */
  head: {
    height: number;
    time: Timestamp;
  } | null;
  /** Newest final block of the chain; null: not reached since the start */
  chainSolid: number | null;
  /** Final blocks that are left to read; null: not known, as no node answers: none has said for half a minute how long the chain is */
  lag: number | null;
  /** Seconds since a node last said how long the chain is; null: none has since the start */
  reachedSeconds: number | null;
  /** Set while many blocks are left */
  catchUp: {
    blocksPerSecond: number;
    left: number;
  } | null;
  /** Why nothing more is read: what nodes say does not continue what was read */
  stopped: string | null;
  /** Rest between two looks, so that the calls of nodes last the day */
  restSeconds: number;
  /** Blocks that no node gives whole; a solid one holds the scan, one of `again` was passed and is due once more */
  unread: ({
    height: number;
    view: "head" | "solid" | "again";
    reason: string;
    tries: number;
    since: Timestamp;
    nextTryAt: Timestamp;
  })[];
  /** Final blocks that were read; more than one range: a gap, to be read again */
  scanned: ({
    from: number;
    to: number;
  })[];
  /** In the order they are asked */
  nodes: ({
    name: string;
    /** cooling-down: left alone after a failure; quota-used-up: no calls are left today; wrong-chain: of another chain, or with another block in place of our newest solid one; asked again after a minute */
    state: "ready" | "cooling-down" | "quota-used-up" | "wrong-chain";
    coolDownSeconds: number;
    /** For how much of that it answers nothing, as it said itself */
    suspendedSeconds: number;
    /** Calls per second that it is sent at most now; null: without a bound */
    callsPerSecond: number | null;
    /** Single calls that it could not answer and is not asked now */
    coolingCalls: number;
    /** Paths that it said it does not serve, such as a lite node */
    unserved: string[];
    callsToday: number;
    dailyCalls: number | null;
    failure: string | null;
  })[];
};

export type Charge = {
  id: string;
  type: ChargeType;
  description: string;
  /** Negative where a fee was returned */
  amount: string;
  currency: Currency;
  network: NetworkSymbol;
  depositId: string | null;
  withdrawalId: string | null;
  settlementId: string | null;
  createdAt: Timestamp;
};

export type ChargeType = "ADDRESS_ACTIVATION" | "DIRECT_DEPOSIT" | "DEPOSIT_COMMISSION" | "WITHDRAWAL_COMMISSION" | "NETWORK_FEE" | "REVERSAL";

export type ClaimResult = {
  /** Your deposits of this transaction, the first 100 in the order of its logs; lists have them all */
  deposits: Deposit[];
  status: ClaimStatus;
};

/** `credited`: something was missing and is booked now. `already_credited`: nothing was missing. `not_final`: its block may still change, or was not read yet; it is credited when it is. `not_found`: the network does not know it. `not_ours`: it paid none of your addresses */
export type ClaimStatus = "credited" | "already_credited" | "not_final" | "not_found" | "not_ours";

/** The record is not in a state that allows this */
export type ConflictError = {
  error: "Conflict";
  code: "conflict";
  message: string;
};

/** Token */
export type Currency = "USDT" | "USDC";

/** Decimal string without exponent and without trailing zeros */
export type Decimal = string;

export type Deposit = {
  id: string;
  /** Gross: the amount that arrived, before fees */
  amount: Decimal;
  currency: Currency;
  network: NetworkSymbol;
  status: DepositStatus;
  /** `onchain`, `top_up`, or what a manual deposit said */
  source: string;
  /** Your reference, from the address */
  referenceId: string | null;
  description: string | null;
  createdAt: Timestamp;
  updatedAt: Timestamp;
  /** When it became available; null before */
  clearedAt: Timestamp | null;
  /** Fixed charges: activation fee or flat fee */
  fee: Decimal;
  /** Percentage commission */
  commission: Decimal;
  /** Decimal fraction: `0.01` is one per cent */
  commissionRate: string;
  depositAddressId: string | null;
  /** Id of the key that asked for it; null: no key did */
  createdBy: string | null;
  /** Present when the deposit came in on an issued address */
  depositAddress?: {
    id: string;
    /** Address on the network */
    address: string;
    networkSymbol: NetworkSymbol;
  };
  /** Free-form; the transaction id stands under `txHash` */
  metadata: Record<string, unknown>;
};

export type DepositAddress = {
  id: string;
  /** Address on the network */
  address: string;
  networkSymbol: NetworkSymbol;
  createdAt: Timestamp;
  /** The newest 10 */
  deposits: ShortDeposit[];
};

export type DepositAddressCreated = {
  /** Address on the network */
  address: string;
  /** `<merchant_id>_<identifier>` */
  identifier: string;
  network: NetworkSymbol;
  /** The same as network */
  networkSymbol: NetworkSymbol;
  /** Echoed only when supplied */
  referenceId?: string;
};

/** The customer has an address and the request said `If-None-Match: *` */
export type DepositAddressExistsError = {
  error: "Deposit address already exists";
  code: "deposit_address_exists";
};

export type DepositConfirmedEvent = {
  type: "deposit";
  depositId: string;
  amount: Decimal;
  currency: Currency;
  network: NetworkSymbol;
  status: "confirmed";
  identifier: string | null;
  txHash: string | null;
  /** Your reference */
  referenceId: string | null;
  address: string | null;
  /** True for wallet top-ups */
  isMerchantDirectDeposit: boolean;
  feeCharges: {
    /** The commission; of a top-up the flat fee */
    amount: Decimal;
    /** Decimal fraction: `0.01` is one per cent */
    percentage: string;
    type: FeeChargeType;
    activationFee: {
      amount: Decimal;
      charged: boolean;
    };
  };
  /** Net: the amount minus its fees, as the balance got it */
  receivableAmount: Decimal;
  /** Stable on every redelivery; the same as X-Webhook-Id */
  eventId: string;
};

export type DepositCreated = {
  id: string;
  amount: Decimal;
  currency: Currency;
  network: NetworkSymbol;
  status: DepositStatus;
  source: string;
  description: string | null;
  createdAt: Timestamp;
  /** Free-form; the transaction id stands under `txHash` */
  metadata: Record<string, unknown>;
};

export type DepositFailedEvent = {
  type: "deposit";
  depositId: string;
  amount: Decimal;
  currency: Currency;
  network: NetworkSymbol;
  identifier: string | null;
  status: "failed";
  reason: string;
  txHash: string | null;
  /** Your reference */
  referenceId: string | null;
  address: string | null;
  /** Stable on every redelivery; the same as X-Webhook-Id */
  eventId: string;
};

export type DepositOfMerchant = {
  id: string;
  /** Gross: the amount that arrived, before fees */
  amount: Decimal;
  currency: Currency;
  network: NetworkSymbol;
  status: DepositStatus;
  /** `onchain`, `top_up`, or what a manual deposit said */
  source: string;
  /** Your reference, from the address */
  referenceId: string | null;
  description: string | null;
  createdAt: Timestamp;
  updatedAt: Timestamp;
  /** When it became available; null before */
  clearedAt: Timestamp | null;
  /** Fixed charges: activation fee or flat fee */
  fee: Decimal;
  /** Percentage commission */
  commission: Decimal;
  /** Decimal fraction: `0.01` is one per cent */
  commissionRate: string;
  depositAddressId: string | null;
  /** Id of the key that asked for it; null: no key did */
  createdBy: string | null;
  /** Present when the deposit came in on an issued address */
  depositAddress?: {
    id: string;
    /** Address on the network */
    address: string;
    networkSymbol: NetworkSymbol;
  };
  /** Free-form; the transaction id stands under `txHash` */
  metadata: Record<string, unknown>;
  merchantId: string;
  /** The first of two administrators, while another has to confirm it as well */
  confirmedBy: string | null;
};

export type DepositPageStatus = {
  status: "waiting" | "received" | "completed" | "failed";
  /** Left out while waiting */
  deposit?: {
    amount: Decimal;
    currency: Currency;
    txHash: string | null;
    receivedAt: Timestamp;
    creditedAt: Timestamp | null;
  };
  /** All payments together, in the token the page asks for; left out while waiting */
  progress?: {
    currency: Currency;
    /** The quote, always with 8 places: what is to be paid is this rounded up to the token's decimals, `payableAmount`. Null where there is none */
    amount: string | null;
    /** Seen on the chain, credited or not */
    received: Decimal;
    /** Final, before fees */
    credited: Decimal;
    /** Amount that is still to be sent, rounded to the token's decimals; null without a quote */
    missing: Decimal | null;
  };
};

export type DepositStatus = "PENDING" | "CONFIRMED" | "FAILED" | "CANCELLED";

export type DepositUrl = {
  id: string;
  url: string;
  /** Address on the network */
  address: string;
  network: NetworkSymbol;
  createdAt: Timestamp;
  /** The newest 10 */
  deposits: ShortDeposit[];
};

/** Fields that were not supplied, or cannot be quoted, are left out */
export type DepositUrlCreated = {
  url: string;
  /** Address on the network */
  address: string;
  /** `<merchant_id>_<identifier>` */
  identifier: string;
  network: NetworkSymbol;
  sessionToken: string;
  /** 15 minutes after creation */
  expiresAt: Timestamp;
  referenceId?: string;
  requestedAmount?: Decimal;
  requestedCurrency?: string;
  token?: string;
  /** Fiat units per USDT */
  exchangeRate?: Decimal;
  /** requestedAmount at exchangeRate */
  amount?: string;
  /** `amount` rounded up to the token's decimals: what the page asks for */
  payableAmount?: Decimal;
};

/** The pair takes no deposits */
export type DepositsNotSupportedError = {
  error: string;
  code: "deposits_not_supported";
};

/** No pair of the network takes deposits */
export type DepositsNotSupportedOnNetworkError = {
  error: string;
  code: "deposits_not_supported_on_network";
};

/** A RESELLER key named another destination or network than the registered one */
export type DestinationNotRegisteredError = {
  error: "Destination does not match the registered withdrawal address";
  code: "destination_not_registered";
};

/** The settlement address is not on the whitelist, or not active */
export type DestinationNotWhitelistedError = {
  error: "Destination address is not whitelisted for this merchant";
  code: "destination_not_whitelisted";
};

/** The referenceId names a withdrawal that is neither FAILED nor CANCELLED */
export type DuplicateReferenceError = {
  error: "Duplicate referenceId";
  code: "duplicate_reference";
  message: string;
  withdrawalId: string;
};

export type Earnings = {
  currency: Currency;
  network: NetworkSymbol;
  /** Applied fee events */
  feeEvents: number;
  /** Summed base amounts */
  volume: Decimal;
  grossFeesCharged: Decimal;
  marginEarned: Decimal;
  /** Clawed back, for example from failed payouts */
  reversed: Decimal;
  /** marginEarned - reversed */
  net: string;
};

/** The error in one word, for programs: it stays the same when a text changes */
export type ErrorCode = "merchant_not_active" | "idempotency_conflict" | "deposits_not_supported_on_network" | "deposits_not_supported" | "withdrawals_not_supported" | "amount_not_positive" | "amount_not_exact" | "below_minimum" | "destination_invalid" | "destination_is_ours" | "destination_not_registered" | "destination_not_whitelisted" | "duplicate_reference" | "no_balance" | "insufficient_balance" | "withdrawal_unavailable" | "not_found" | "not_manual" | "transfer_known" | "balance_too_large" | "wrong_state" | "same_administrator" | "already_sent" | "payment_used" | "transfer_of_another" | "deposit_address_exists" | "settlement_address_exists" | "too_many_settlement_addresses" | "event_conflict" | "invalid_request" | "token_required" | "authentication_required" | "unauthorized" | "insufficient_permissions" | "withdrawal_forbidden" | "key_of_another" | "invalid_token" | "method_not_allowed" | "conflict" | "pair_not_served" | "session_expired" | "body_too_large" | "unsupported_media_type" | "validation_failed" | "rate_limit_exceeded" | "internal" | "outcome_unknown" | "payout_initiation_failed" | "settlement_initiation_failed" | "unavailable";

export type ErrorDetail = {
  /** Where; empty for the request as a whole */
  path: string[];
  message: string;
  code: string;
};

/** The eventId was used with another body */
export type EventConflictError = {
  error: "Conflict";
  code: "event_conflict";
  message: string;
};

export type ExchangeRates = {
  baseCurrency: string;
  /** Fiat units per USDT, for every network that takes deposits */
  rates: Record<string, Decimal>;
  timestamp: Timestamp;
};

export type FailingEndpoint = {
  merchantId: string;
  state: "failing" | "paused";
  url: string;
  /** When it began to fail */
  since: Timestamp;
  /** Attempts since then */
  failures: number;
  lastOutcome: string;
};

export type FeeChargeType = "PERCENTAGE" | "FIXED_AMOUNT" | "HYBRID" | "NONE";

/** Cost of a withdrawal */
export type FeeInfo = {
  /** The whole debit: amount, commission, network fee */
  grossAmount: Decimal;
  /** Amount that the destination receives */
  netAmount: Decimal;
  /** Commission and network fee */
  totalFees: Decimal;
  feeBreakdown: {
    /** Fixed part of the commission */
    baseFee: Decimal;
    /** Decimal fraction: `0.01` is one per cent */
    markupRate: string;
    /** Proportional part of the commission */
    markupAmount: Decimal;
    /** Quoted now and locked */
    networkFee: Decimal;
    /** The same as totalFees */
    totalFee: Decimal;
  };
};

/** The Idempotency-Key was used with another body */
export type IdempotencyConflictError = {
  error: "Conflict";
  code: "idempotency_conflict";
  message: string;
};

/** The pair's balance does not cover amount and fees; other networks are not used */
export type InsufficientBalanceError = {
  error: "Insufficient balance";
  code: "insufficient_balance";
  available: Decimal;
  /** The whole debit */
  requested: Decimal;
  currency: Currency;
  network: NetworkSymbol;
  feeInfo: FeeInfo;
};

/** The key lacks the permission, or the merchant in the path is another one */
export type InsufficientPermissionsError = {
  error: "Insufficient permissions";
  code: "insufficient_permissions";
};

/** A fault of the service; name the X-Request-Id when you report it */
export type InternalError = {
  error: "Internal error";
  code: "internal";
};

/** A field is missing or malformed; details name each one */
export type InvalidRequestError = {
  error: "Invalid request data";
  code: "invalid_request" | "amount_not_exact" | "destination_invalid" | "destination_is_ours" | "balance_too_large";
  details: ErrorDetail[];
};

/** No hosted page has this token */
export type InvalidTokenError = {
  error: "Invalid token";
  code: "invalid_token";
};

/** The key counts as another administrator than the one who asks */
export type KeyOfAnotherError = {
  error: "Insufficient permissions";
  code: "key_of_another";
  message: string;
};

export type LineMerchant = {
  id: string;
  name: string;
  status: "ACTIVE" | "SUSPENDED" | "INACTIVE";
  /** Decimal fraction: `0.01` is one per cent */
  marginRate: string;
  /** Whose account the margin is credited to */
  beneficiary: "merchant" | "reseller" | null;
  createdAt: Timestamp;
};

export type MerchantCreated = {
  id: string;
  name: string;
  status: "ACTIVE" | "SUSPENDED" | "INACTIVE";
  /** Decimal fraction: `0.01` is one per cent */
  depositCommissionRate: string;
  /** Flat fee of a wallet top-up */
  directDepositFee: Decimal;
  /** Charged once per deposit address, by its first deposit of at least 1 USD; the same for all */
  activationFee: Decimal;
  webhookUrl: string | null;
  webhookEnabled: boolean;
  /** Subscription filter: null sends every event, an empty list none */
  webhookEvents: string[] | null;
  /** Milliseconds */
  webhookTimeout: number;
  webhookRetryCount: number;
  successUrl: string | null;
  failureUrl: string | null;
  /** Origins that may show the hosted page in a frame; null or empty: none */
  pageOrigins: string[] | null;
  /** Colour of the merchant's mark on the hosted page, as `#rrggbb` */
  logoColor: string | null;
  /** Requests per minute; absent or null: the default, 0: unlimited */
  rateLimits: {
    balance?: number | null;
    deposits?: number | null;
    withdrawals?: number | null;
    transactions?: number | null;
    webhooks?: number | null;
  };
  resellerId: string | null;
  createdAt: Timestamp;
  /** Shown now and never again */
  webhookSecret: string;
};

export type MerchantLine = {
  merchantId: string;
  resellerId: string | null;
  marginRate: string | null;
  /** Whose account the margin is credited to */
  beneficiary: "merchant" | "reseller" | null;
};

/** The merchant is suspended or inactive */
export type MerchantNotActiveError = {
  error: "Merchant account is not active";
  code: "merchant_not_active";
};

export type MerchantProfile = {
  id: string;
  name: string;
  status: "ACTIVE" | "SUSPENDED" | "INACTIVE";
  /** Decimal fraction: `0.01` is one per cent */
  depositCommissionRate: string;
  /** Flat fee of a wallet top-up */
  directDepositFee: Decimal;
  /** Charged once per deposit address, by its first deposit of at least 1 USD; the same for all */
  activationFee: Decimal;
  webhookUrl: string | null;
  webhookEnabled: boolean;
  /** Subscription filter: null sends every event, an empty list none */
  webhookEvents: string[] | null;
  /** Milliseconds */
  webhookTimeout: number;
  webhookRetryCount: number;
  successUrl: string | null;
  failureUrl: string | null;
  /** Origins that may show the hosted page in a frame; null or empty: none */
  pageOrigins: string[] | null;
  /** Colour of the merchant's mark on the hosted page, as `#rrggbb` */
  logoColor: string | null;
  /** Requests per minute; absent or null: the default, 0: unlimited */
  rateLimits: {
    balance?: number | null;
    deposits?: number | null;
    withdrawals?: number | null;
    transactions?: number | null;
    webhooks?: number | null;
  };
  resellerId: string | null;
  createdAt: Timestamp;
};

export type NetworkCost = {
  kind: "payout" | "settlement" | "sweep" | "gas" | "delegation" | "reclaim" | "cold" | "setup";
  currency: "USDT" | "USDC" | "native";
  transfers: number;
  /** Of them, those that were included and failed */
  failed: number;
  /** Network fees that merchants paid, refunds left out */
  charged: Decimal;
  /** Cost on the chain, in its own coin */
  coin: Decimal;
  /** The same in the currency, at the rates of the time */
  cost: Decimal;
  /** Transfers that `cost` lacks for want of a rate */
  unpriced: number;
};

/** Network; the second half are test networks */
export type NetworkSymbol = "TRX" | "ETH" | "BNB" | "SOL" | "TRX_SHASTA" | "SEP" | "tBNB" | "SOL_DEVNET";

/** The account never held this pair */
export type NoBalanceError = {
  error: string;
  code: "no_balance";
};

/** There is no such record, or it is another merchant's */
export type NotFoundError = {
  error: "Not found";
  code: "not_found";
};

/** The deposit came over a chain, which alone decides on it */
export type NotManualError = {
  error: "Conflict";
  code: "not_manual";
  message: string;
  from: string;
  to: string;
};

/** The request was decided, but whether it is stored is not known yet: look the record up */
export type OutcomeUnknownError = {
  error: "Outcome unknown";
  code: "outcome_unknown";
  message: string;
  id?: string;
  withdrawalId?: string;
  settlementId?: string;
  depositId?: string;
  merchantId?: string;
  addressId?: string;
};

export type Pagination = {
  /** Rows that match */
  total: number;
  page: number;
  limit: number;
  /** 0 when there is nothing */
  pages: number;
};

/** The installation has no node of the network, or no contract of the currency on it */
export type PairNotServedError = {
  error: "Conflict";
  code: "pair_not_served";
  message: string;
};

export type PairSettings = {
  currency: Currency;
  network: NetworkSymbol;
  depositsEnabled: boolean;
  withdrawalsEnabled: boolean;
  minWithdrawal: Decimal;
  /** The fixed fee; of a dynamic pair what is charged while nothing is estimated */
  networkFee: Decimal;
  networkFeeMode: "fixed" | "dynamic";
  /** Network fee that a payout is quoted at the moment */
  quotedNetworkFee: Decimal;
  /** Null where the service has no node of the network */
  estimate: {
    /** Fee that `dynamic` charges; null: `missing` */
    networkFee: Decimal | null;
    /** The least that `dynamic` charges */
    floor: Decimal;
    /** In the network's coin, to an address that holds the token */
    costToHolder: Decimal | null;
    /** To one that does not */
    costToNewHolder: Decimal | null;
    estimatedAt: Timestamp | null;
    /** Units of the currency per coin */
    coinRate: Decimal | null;
    /** Why there is no estimate */
    missing: string | null;
  } | null;
  /** Whether the service has a node of the network */
  connected: boolean;
};

/** The named transaction has paid another withdrawal */
export type PaymentUsedError = {
  error: "Conflict";
  code: "payment_used";
  message: string;
  from: string;
  to: string;
};

/** The treasury refused the payout; the reserved amount is back and the referenceId is free */
export type PayoutInitiationFailedError = {
  error: "Payout initiation failed";
  code: "payout_initiation_failed";
  message: string;
  withdrawalId: string;
};

export type QuarantinedRow = {
  merchantId: string;
  network: NetworkSymbol;
  /** Of a margin: the payment that earned it */
  txid: string;
  logIndex: number;
  phase: string;
  /** Begins with bug, unreadable, unexpected, unclaimed, claimed, unproven, misdirected or renamed */
  reason: string;
  /** The chain's report, as it was read */
  data: Record<string, unknown>;
  createdAt: Timestamp;
};

/** More requests than the limit allows; go on after the seconds in Retry-After */
export type RateLimitExceededError = {
  error: "rate_limit_exceeded";
  code: "rate_limit_exceeded";
  message: string;
  details: {
    /** Requests per minute */
    limit: number;
    remaining: number;
    /** Unix time in seconds */
    reset: number;
  };
};

export type Readiness = {
  status: "ok" | "degraded" | "unready";
  reasons: string[];
};

export type Reconciliation = {
  id: string;
  /** quick: what costs the same however many payments there were; full: everything */
  scope: "quick" | "full";
  startedAt: Timestamp;
  finishedAt: Timestamp;
  differences: number;
  /** Rules that could not be compared, or not in full */
  unchecked: number;
  parts: ({
    /** null: the books with themselves */
    network: NetworkSymbol | null;
    rules: ({
      /** Rule that should hold */
      rule: string;
      /** At most 100; empty: it holds where it was compared */
      differences: ({
        /** The record it is about */
        subject: string;
        /** Both sides, in words */
        detail: string;
      })[];
      /** Why it, or a part of it, could not be compared; null: all of it was */
      unchecked: string | null;
    })[];
    holdings: ({
      currency: Currency;
      hotWallet: Decimal;
      addresses: Decimal;
      cold: Decimal;
      /** Signed payouts that are not final; part of what is owed */
      inFlight: Decimal;
      /** To all merchants together */
      owed: Decimal;
      /** Amount that is left when everybody is paid */
      house: string;
    })[];
  })[];
};

export type Reseller = {
  id: string;
  /** Its own merchant account */
  merchantId: string;
  name: string;
  /** Address on the network */
  withdrawalAddress: string;
  network: NetworkSymbol;
  createdAt: Timestamp;
  updatedAt: Timestamp;
};

/** The key, or the administrator behind it, made the record or confirmed the money that it moves */
export type SameAdministratorError = {
  error: "Insufficient permissions";
  code: "same_administrator";
  message: string;
};

/** The 15 minutes of the hosted page are over */
export type SessionExpiredError = {
  error: "Session expired";
  code: "session_expired";
};

export type Settings = {
  /** Settlements of this amount and above wait for approval */
  settlementThresholds: {
    USDT: Decimal;
    USDC: Decimal;
  };
};

export type Settlement = {
  id: string;
  amount: Decimal;
  currency: Currency;
  network: NetworkSymbol;
  status: SettlementStatus;
  /** Why it ended without a payout */
  reason: string | null;
  /** Address on the network */
  destinationAddress: string;
  destinationNetwork: NetworkSymbol;
  createdAt: Timestamp;
  totalFees: Decimal;
  merchantAddress: {
    /** Address on the network */
    address: string;
    label: string;
  };
  withdrawalId: string;
  /** Every state it was in, oldest first; several may be taken at one time */
  history: ({
    status: SettlementStatus;
    at: Timestamp;
  })[];
  /** Id of the key that asked for it; null: no key did */
  createdBy: string | null;
};

export type SettlementAddress = {
  id: string;
  /** Address on the network */
  address: string;
  network: NetworkSymbol;
  label: string;
  /** An administrator activates it */
  active: boolean;
  createdAt: Timestamp;
};

/** The address is on the whitelist already */
export type SettlementAddressExistsError = {
  error: "Conflict";
  code: "settlement_address_exists";
  message: string;
};

export type SettlementAddressOfMerchant = {
  id: string;
  /** Address on the network */
  address: string;
  network: NetworkSymbol;
  label: string;
  /** An administrator activates it */
  active: boolean;
  createdAt: Timestamp;
  merchantId: string;
};

export type SettlementCreated = {
  id: string;
  amount: Decimal;
  currency: Currency;
  network: NetworkSymbol;
  status: SettlementStatus;
  /** Why it ended without a payout */
  reason: string | null;
  /** Address on the network */
  destinationAddress: string;
  destinationNetwork: NetworkSymbol;
  createdAt: Timestamp;
  totalFees: Decimal;
  merchantAddress: {
    /** Address on the network */
    address: string;
    label: string;
  };
  withdrawalId: string;
  /** Every state it was in, oldest first; several may be taken at one time */
  history: ({
    status: SettlementStatus;
    at: Timestamp;
  })[];
  /** Id of the key that asked for it; null: no key did */
  createdBy: string | null;
  message: string;
};

/** The treasury refused the payout; the reserved amount is back and the Idempotency-Key is free */
export type SettlementInitiationFailedError = {
  error: "Payout initiation failed";
  code: "settlement_initiation_failed";
  message: string;
  settlementId: string;
  withdrawalId: string;
};

export type SettlementStatus = "PENDING" | "APPROVAL_REQUIRED" | "APPROVED" | "PROCESSING" | "SUBMITTED_TO_LEDGER" | "COMPLETED" | "FAILED" | "CANCELLED" | "REJECTED";

export type ShortDeposit = {
  id: string;
  amount: Decimal;
  currency: Currency;
  status: DepositStatus;
  createdAt: Timestamp;
};

export type Sweeps = {
  /** All addresses with something to sweep, by reason */
  counts: ({
    reason: "in_flight" | "waiting_gas" | "address_not_activated" | "waiting_setup" | "reclaiming" | "chain_unavailable" | "below_economics" | "no_rate" | "above_cap" | "paused" | "unsupported" | "balance_differs" | "would_fail" | "failed" | "unexpected" | "deposit_held";
    addresses: number;
  })[];
  /** At most 20 of each reason */
  addresses: UnsweptAddress[];
};

/** ISO 8601 in UTC */
export type Timestamp = string;

/** The query has no token */
export type TokenRequiredError = {
  error: "Token is required";
  code: "token_required";
};

/** The whitelist has 200 addresses, as many as it may have */
export type TooManySettlementAddressesError = {
  error: "Conflict";
  code: "too_many_settlement_addresses";
  message: string;
};

export type Transaction = {
  id: string;
  txnHash: string | null;
  /** Height of the block */
  block: number | null;
  age: string;
  from: string | null;
  to: string | null;
  /** Effect on the available balance: net of fees in, with fees out */
  amount: string;
  fee: Decimal;
  token: Currency;
  network: NetworkSymbol;
  type: "DEPOSIT" | "WITHDRAWAL" | "SETTLEMENT";
  status: "PENDING" | "CONFIRMED" | "FAILED" | "CANCELLED";
  balanceBefore: Decimal;
  /** Runs over all rows of the pair */
  balanceAfter: Decimal;
  createdAt: Timestamp;
  /** The same instant at UTC+8 */
  createdAtGmt8: string;
  referenceId: string | null;
  description: string | null;
  category: {
    name: string;
    description: string | null;
  } | null;
  tags: ({
    name: string;
  })[];
  metadata: Record<string, unknown>;
};

export type TransactionConfirmedEvent = {
  type: "transaction";
  transactionId: string;
  transactionType: "DEPOSIT" | "WITHDRAWAL";
  /** Decimal string, negative for money out */
  amount: string;
  fee: Decimal;
  currency: Currency;
  network: NetworkSymbol;
  status: "confirmed";
  txHash: string | null;
  /** Your reference */
  referenceId: string | null;
  /** Available balance of the pair at this event. It may differ from `balanceAfter` of the statement's row, which counts all rows in the order of their creation */
  balanceAfter: Decimal | null;
  createdAt: Timestamp;
  /** Stable on every redelivery; the same as X-Webhook-Id */
  eventId: string;
};

export type TransactionFailedEvent = {
  type: "transaction";
  transactionId: string;
  transactionType: "DEPOSIT" | "WITHDRAWAL";
  /** Decimal string, negative for money out */
  amount: string;
  fee: Decimal;
  currency: Currency;
  network: NetworkSymbol;
  status: "failed";
  txHash: string | null;
  /** Your reference */
  referenceId: string | null;
  /** Available balance of the pair at this event. It may differ from `balanceAfter` of the statement's row, which counts all rows in the order of their creation */
  balanceAfter: Decimal | null;
  createdAt: Timestamp;
  /** Stable on every redelivery; the same as X-Webhook-Id */
  eventId: string;
};

export type TransferCost = {
  outgoingId: string;
  attempt: number;
  merchantId: string;
  paymentId: string | null;
  kind: "payout" | "settlement" | "sweep" | "gas" | "delegation" | "reclaim" | "cold" | "setup";
  network: NetworkSymbol;
  currency: "USDT" | "USDC" | "native";
  amount: Decimal;
  /** Transaction id on the network */
  txHash: string;
  outcome: "paid" | "failed" | "unexpected";
  /** Null: no merchant is charged for this kind */
  charged: Decimal | null;
  /** Cost on the chain, in its own coin */
  coin: Decimal;
  /** Units of the currency per coin then */
  coinRate: Decimal | null;
  /** In the currency; null: no rate was known */
  cost: Decimal | null;
  /** `charged` less `cost` */
  result: string | null;
  countedAt: Timestamp;
};

/** The transaction that the deposit names is booked already */
export type TransferKnownError = {
  error: "Conflict";
  code: "transfer_known";
  message: string;
  depositId: string;
};

/** The transaction that the deposit names paid another merchant, or another one's deposit by hand */
export type TransferOfAnotherError = {
  error: "Conflict";
  code: "transfer_of_another";
  message: string;
  from: string;
  to: string;
};

export type TreasuryOfNetwork = {
  network: NetworkSymbol;
  /** Address on the network */
  hotWallet: string;
  /** Whether payouts can be signed */
  payoutsOpen: boolean;
  /** Coins and tokens of which the hot wallet has too little */
  low: string[];
  /** By asset, where that begins; `native` is the network's own coin */
  lowBelow: Record<string, Decimal> | null;
  coldAddress: string | null;
  /** Who has to agree before a payout above an amount counts as expired; null: the service's own scan decides alone */
  secondNodes: {
    above: Decimal;
    nodes: string[];
  } | null;
  /** Expired payouts they have not agreed on */
  unproven: number;
  /** Age of the oldest transfer without a signature; null: none waits */
  oldestQueuedSeconds: number | null;
  /** Payouts above the signer's cap per transaction: they wait for a person */
  overCap: {
    count: number;
    oldestAt: Timestamp | null;
  };
  /** Payouts that something about themselves keeps from being signed */
  setAside: {
    count: number;
    oldestAt: Timestamp | null;
  };
  /** Switches that issuers have set in their tokens; payouts of a paused one wait */
  tokens: string[];
  /** The network's own coin; null: node silent */
  native: Decimal | null;
  /** The part of it that is neither reserved nor needed by a transaction under way */
  nativeFree: string | null;
  balances: ({
    currency: Currency;
    /** In solid blocks; null: node silent */
    balance: Decimal | null;
    /** Promised and not signed */
    queued: Decimal;
    /** Signed and not final */
    inFlight: Decimal;
    /** Amount that new payouts can count on */
    liquidity: string | null;
    /** Above so much the surplus goes to the cold address; null: it stays */
    ceiling: Decimal | null;
    /** Amount that is left then */
    target: Decimal | null;
  })[];
  readUntil: {
    height: number;
    time: Timestamp;
  } | null;
  /** All that waits, by what it waits for */
  waiting: WaitingTransfers[];
  /** Cost of all transactions so far */
  costs: NetworkCost[];
  /** The same in the last 30 days */
  costsOf30Days: NetworkCost[];
  queued: WaitingTransfer[];
  inFlight: WaitingTransfer[];
  sweeps: Sweeps;
};

/** The API key is unknown, expired, revoked, of another environment, or used from elsewhere */
export type UnauthorizedError = {
  error: "Unauthorized";
  code: "unauthorized";
};

/** Nothing was done; repeat after the seconds in Retry-After */
export type UnavailableError = {
  error: "Service unavailable";
  code: "unavailable";
  message: string;
};

/** The body is not announced as application/json */
export type UnsupportedMediaTypeError = {
  error: "Unsupported media type";
  code: "unsupported_media_type";
  message: string;
};

export type UnsweptAddress = {
  /** Address on the network */
  address: string;
  currency: Currency;
  merchantId: string;
  kind: "issued" | "session" | "top_up";
  /** Why it is not swept, for programs */
  reason: "in_flight" | "waiting_gas" | "address_not_activated" | "waiting_setup" | "reclaiming" | "chain_unavailable" | "below_economics" | "no_rate" | "above_cap" | "paused" | "unsupported" | "balance_differs" | "would_fail" | "failed" | "unexpected" | "deposit_held";
  /** The same for people */
  detail: string | null;
  /** Amount that waits there, as of the last look */
  amount: Decimal | null;
  since: Timestamp;
  /** When it is looked at again */
  lookAt: Timestamp;
};

/** Well formed, but a rule over several fields or an outside check refuses it */
export type ValidationFailedError = {
  error: "Validation failed";
  code: "validation_failed";
  details: ErrorDetail[];
};

export type WaitingTransfer = {
  id: string;
  merchantId: string;
  kind: "payout" | "settlement" | "sweep" | "gas" | "delegation" | "reclaim" | "cold" | "setup";
  paymentId: string | null;
  currency: "USDT" | "USDC" | "native";
  amount: Decimal;
  /** Address on the network */
  destination: string;
  /** Reason for which it waits */
  reason: string | null;
  attempts: number;
  txid: string | null;
  expiresAt: Timestamp | null;
  /** Its number among its wallet's transactions; null: it has none */
  nonce: number | null;
  /** The newest block that shows it, not final yet */
  seenHeight: number | null;
  /** All of its transactions that may still be in a block, oldest first */
  txids: string[];
  createdAt: Timestamp;
};

export type WaitingTransfers = {
  kind: "payout" | "settlement" | "sweep" | "gas" | "delegation" | "reclaim" | "cold" | "setup";
  currency: "USDT" | "USDC" | "native";
  status: "queued" | "signed";
  /** Null: for its turn, or for its block */
  reason: string | null;
  count: number;
  amount: Decimal;
  /** Since when the oldest of them exists */
  oldestAt: Timestamp;
};

export type WebhookDelivery = {
  id: string;
  event: "deposit.confirmed" | "deposit.failed" | "withdrawal.confirmed" | "withdrawal.failed" | "transaction.confirmed" | "transaction.failed" | "webhook.test";
  status: "PENDING" | "DELIVERED" | "FAILED" | "SKIPPED";
  /** Of a SKIPPED event that was never wanted to be sent: `under_1_usd`, the deposit is worth less than 1 USD; `switched_off`, callbacks were off when its turn came */
  reason: string | null;
  paymentId: string;
  /** The newest 50 */
  attempts: ({
    number: number;
    outcome: string;
    /** HTTP status of the endpoint's answer */
    status: number | null;
    durationMs: number;
    /** Its first 2 kB */
    answer: string | null;
    endedAt: Timestamp;
  })[];
  nextAttemptAt: Timestamp | null;
  createdAt: Timestamp;
  deliveredAt: Timestamp | null;
  /** The body that is sent */
  payload: Record<string, unknown>;
};

export type WebhookEndpoint = {
  /** `off`: no URL, or switched off. `failing`: nothing is acknowledged. `paused`: for so long that new events wait for a probe to be acknowledged */
  state: "off" | "active" | "failing" | "paused";
  /** When it began to fail */
  since: Timestamp | null;
  /** Attempts since then */
  failures: number;
  lastOutcome: string | null;
  lastFailedAt: Timestamp | null;
  /** While paused: from when on the oldest new event is sent as a probe */
  nextProbeAt: Timestamp | null;
  /** Events still to be delivered; counted up to 100000 */
  waiting: number;
  /** When an event that is still kept was last acknowledged, a test event too */
  lastDeliveredAt: Timestamp | null;
};

export type WebhookRedelivered = {
  /** Events that are due now */
  redelivered: number;
  /** Whether the range holds no more */
  isComplete: boolean;
  /** For `after`: the last event that was looked at, or the last of them where it is complete */
  lastEventId: string | null;
};

export type WebhookTested = {
  /** Whether the endpoint acknowledged it */
  success: boolean;
  eventId: string;
  event: "webhook.test";
  /** HTTP status of the endpoint's answer */
  status: number | null;
  outcome: string;
  durationMs: number;
  /** Its first 2 kB */
  answer: string | null;
};

export type Withdrawal = {
  id: string;
  amount: Decimal;
  currency: Currency;
  network: NetworkSymbol;
  status: WithdrawalStatus;
  /** Address on the network */
  destination: string;
  /** Your reference */
  referenceId: string | null;
  description: string | null;
  txHash: string | null;
  createdAt: Timestamp;
  /** When it ended; null before */
  processedAt: Timestamp | null;
  /** The network fee that was locked */
  fee: Decimal;
  commission: Decimal;
  /** Decimal fraction: `0.01` is one per cent */
  commissionRate: string;
  /** Id of the key that asked for it; null: no key did */
  createdBy: string | null;
};

export type WithdrawalConfirmedEvent = {
  type: "withdrawal";
  withdrawalId: string;
  amount: Decimal;
  currency: Currency;
  network: NetworkSymbol;
  status: "confirmed";
  txHash: string | null;
  /** Your reference */
  referenceId: string | null;
  /** Address on the network */
  address: string;
  /** The same as referenceId */
  identifier: string | null;
  feeCharges: {
    /** The commission */
    amount: Decimal;
    /** Decimal fraction: `0.01` is one per cent */
    percentage: string;
    type: FeeChargeType;
    /** Charged on top of the amount */
    networkFee: Decimal;
  };
  /** The amount minus the commission; the destination got `amount` */
  receivableAmount: Decimal;
  /** Stable on every redelivery; the same as X-Webhook-Id */
  eventId: string;
};

export type WithdrawalCreated = {
  success: true;
  message: string;
  withdrawalId: string;
  status: "PENDING" | "PENDING_APPROVAL";
  amount: Decimal;
  currency: Currency;
  network: NetworkSymbol;
  /** Address on the network */
  destination: string;
  feeInfo: FeeInfo;
};

export type WithdrawalFailedEvent = {
  type: "withdrawal";
  withdrawalId: string;
  amount: Decimal;
  currency: Currency;
  network: NetworkSymbol;
  status: "failed";
  reason: string;
  txHash: string | null;
  /** Your reference */
  referenceId: string | null;
  /** Address on the network */
  address: string;
  /** The same as referenceId */
  identifier: string | null;
  /** Stable on every redelivery; the same as X-Webhook-Id */
  eventId: string;
};

export type WithdrawalFeeSettings = {
  baseFee: Decimal;
  /** Decimal fraction: `0.01` is one per cent */
  markupRate: string;
  enabled: boolean;
};

/** The key may neither write nor pay out */
export type WithdrawalForbiddenError = {
  error: "Insufficient permissions to initiate a withdrawal";
  code: "withdrawal_forbidden";
};

export type WithdrawalStatus = "PENDING" | "CONFIRMED" | "FAILED" | "CANCELLED" | "PENDING_APPROVAL";

/** The hot wallet cannot pay this now; nothing was created and the referenceId is free */
export type WithdrawalUnavailableError = {
  error: "Withdrawal temporarily unavailable";
  code: "withdrawal_unavailable";
  message: string;
};

/** The pair takes no withdrawals */
export type WithdrawalsNotSupportedError = {
  error: string;
  code: "withdrawals_not_supported";
};

/** The record is in a state that this move does not leave */
export type WrongStateError = {
  error: "Conflict";
  code: "wrong_state";
  message: string;
  from: string;
  to: string;
};

/** Every request, by method and path. */
export interface Operations {
  /** Create an on-chain payout */
  "POST /api/withdrawals": {
    body: {
      /** Decimal string, exact in the token's decimals on its network */
      amount: string;
      currency: Currency;
      network: NetworkSymbol;
      /** Address on the network */
      destination: string;
      referenceId?: string | null;
      description?: string | null;
    };
    answer: WithdrawalCreated;
  };
  /** List payouts, newest first */
  "GET /api/withdrawals": {
    query?: {
      /** Page number */
      page?: number;
      /** Rows per page */
      limit?: number;
      /** Rows that have this status now */
      status?: "PENDING" | "CONFIRMED" | "FAILED" | "CANCELLED" | "PENDING_APPROVAL";
      /** Your reference */
      referenceId?: string;
    };
    answer: {
      withdrawals: Withdrawal[];
      pagination: Pagination;
    };
  };
  /** Take back a payout that waits for approval */
  "POST /api/withdrawals/{withdrawalId}/cancel": {
    path: {
      withdrawalId: string;
    };
    answer: {
      success: true;
      withdrawalId: string;
      status: "PENDING" | "CONFIRMED" | "FAILED" | "CANCELLED" | "PENDING_APPROVAL";
      message: string;
    };
  };
  /** Create the deposit address of an end customer, or refresh its reference */
  "POST /api/deposit-address": {
    header?: {
      /** `*` creates only: where the customer has an address, the answer is 409 */
      "If-None-Match"?: "*";
    };
    body: {
      network: NetworkSymbol;
      /** Your name for your end customer, in any script */
      identifier: string;
      referenceId?: string | null;
    };
    answer: DepositAddressCreated;
  };
  /** List deposit addresses with their newest deposits */
  "GET /api/deposit-address": {
    query?: {
      network?: NetworkSymbol;
      /** Page number */
      page?: number;
      /** Rows per page */
      limit?: number;
    };
    answer: {
      addresses: DepositAddress[];
      pagination: Pagination;
    };
  };
  /** Create a hosted payment page with a fresh address */
  "POST /api/deposit-url": {
    header?: {
      /** The same key gets the same page for 24 hours, also when its 15 minutes are over; with another body it is a 409 */
      "Idempotency-Key"?: string;
    };
    body: {
      network: NetworkSymbol;
      /** Your name for your end customer, in any script */
      identifier: string;
      referenceId?: string | null;
      requestedCurrency?: string | null;
      requestedAmount?: string | null;
      token?: string | null;
    };
    answer: DepositUrlCreated;
  };
  /** List hosted payment pages with their newest deposits */
  "GET /api/deposit-url": {
    query?: {
      network?: NetworkSymbol;
      /** Page number */
      page?: number;
      /** Rows per page */
      limit?: number;
    };
    answer: {
      depositUrls: DepositUrl[];
      pagination: Pagination;
    };
  };
  /** Status of a hosted payment */
  "GET /api/deposit-page/status": {
    query?: {
      token?: string;
    };
    answer: DepositPageStatus;
  };
  /** Book a deposit by hand; pending until an operator confirms it */
  "POST /api/deposits": {
    body: {
      /** Decimal string */
      amount: string;
      currency: Currency;
      network: NetworkSymbol;
      /** Where it came from */
      source: string;
      description?: string | null;
      metadata?: Record<string, unknown> | null;
      depositAddressId?: string | null;
    };
    answer: DepositCreated;
  };
  /** List deposits, newest first */
  "GET /api/deposits": {
    query?: {
      /** Page number */
      page?: number;
      /** Rows per page */
      limit?: number;
      /** Rows that have this status now */
      status?: "PENDING" | "CONFIRMED" | "FAILED" | "CANCELLED";
      /** This token alone */
      currency?: Currency;
      /** This network alone */
      network?: NetworkSymbol;
      /** Your reference exactly: of an order, the deposits of all its pages */
      referenceId?: string;
      /** Start of the range, included. A date-time without an offset is in UTC */
      startDate?: string;
      /** End of the range, included; a date without a time includes that day. A date-time without an offset is in UTC */
      endDate?: string;
    };
    answer: {
      deposits: Deposit[];
      pagination: Pagination;
    };
  };
  /** Read a transaction again and credit what of it is yours and missing */
  "POST /api/deposits/claim": {
    body: {
      network: NetworkSymbol;
      /** Transaction id on the network */
      txHash: string;
    };
    answer: ClaimResult;
  };
  /** Fiat units per USDT on each network that takes deposits */
  "GET /api/exchange-rates": {
    query: {
      requestedCurrency: string;
    };
    answer: ExchangeRates;
  };
  /** Balances per currency and network */
  "GET /api/balance": {
    query?: {
      /** This token alone */
      currency?: Currency;
      /** This network alone */
      network?: NetworkSymbol;
    };
    answer: Balance | BalanceList;
  };
  /** Statement with running balances, newest first */
  "GET /api/transactions": {
    query?: {
      /** Page number */
      page?: number;
      /** Rows per page */
      limit?: number;
      type?: "DEPOSIT" | "WITHDRAWAL" | "SETTLEMENT";
      /** Rows that have this status now */
      status?: "PENDING" | "CONFIRMED" | "FAILED" | "CANCELLED";
      /** This token alone */
      currency?: Currency;
      /** This network alone */
      network?: NetworkSymbol;
      /** Start of the range, included. A date-time without an offset is in UTC */
      startDate?: string;
      /** End of the range, included; a date without a time includes that day. A date-time without an offset is in UTC */
      endDate?: string;
    };
    answer: {
      transactions: Transaction[];
      balance: {
        currency: Currency | null;
        network: NetworkSymbol | null;
        /** Null unless both currency and network are given */
        available: Decimal | null;
      };
      pagination: Pagination;
    };
  };
  /** Create a payout to a whitelisted address */
  "POST /api/settlements": {
    header?: {
      /** The same key gets the same answer for 24 hours; those of an account's own API keys and those of administrators are apart */
      "Idempotency-Key"?: string;
    };
    body: {
      userId?: string | null;
      currency: Currency;
      /** Decimal string, exact in the token's decimals on its network */
      requestedAmount: string;
      /** Address on the network */
      destinationAddress: string;
      destinationNetwork: NetworkSymbol;
    };
    answer: SettlementCreated;
  };
  /** List settlements, newest first */
  "GET /api/settlements": {
    query?: {
      /** Page number */
      page?: number;
      /** Rows per page */
      limit?: number;
      /** Rows that have this status now */
      status?: "PENDING" | "APPROVAL_REQUIRED" | "APPROVED" | "PROCESSING" | "SUBMITTED_TO_LEDGER" | "COMPLETED" | "FAILED" | "CANCELLED" | "REJECTED";
    };
    answer: {
      settlements: Settlement[];
      pagination: Pagination;
    };
  };
  /** One settlement */
  "GET /api/settlements/{settlementId}": {
    path: {
      settlementId: string;
    };
    answer: Settlement;
  };
  /** Take back a settlement that waits for approval */
  "POST /api/settlements/{settlementId}/cancel": {
    path: {
      settlementId: string;
    };
    answer: Settlement;
  };
  /** Put an address on the whitelist; an administrator activates it */
  "POST /api/settlement-addresses": {
    body: {
      /** Address on the network */
      address: string;
      network: NetworkSymbol;
      label: string;
    };
    answer: SettlementAddress;
  };
  /** The whitelist, newest first */
  "GET /api/settlement-addresses": {
    query?: {
      /** Page number */
      page?: number;
      /** Rows per page */
      limit?: number;
    };
    answer: {
      settlementAddresses: SettlementAddress[];
      pagination: Pagination;
    };
  };
  /** Take an address off the whitelist */
  "DELETE /api/settlement-addresses/{addressId}": {
    path: {
      addressId: string;
    };
    answer: undefined;
  };
  /** Events with the attempts to deliver them, newest first */
  "GET /api/webhook-deliveries": {
    query?: {
      /** Page number */
      page?: number;
      /** Rows per page */
      limit?: number;
      status?: "PENDING" | "DELIVERED" | "FAILED" | "SKIPPED";
      event?: "deposit.confirmed" | "deposit.failed" | "withdrawal.confirmed" | "withdrawal.failed" | "transaction.confirmed" | "transaction.failed" | "webhook.test";
      /** Start of the range, included. A date-time without an offset is in UTC */
      startDate?: string;
      /** End of the range, included; a date without a time includes that day. A date-time without an offset is in UTC */
      endDate?: string;
    };
    answer: {
      deliveries: WebhookDelivery[];
      pagination: Pagination;
    };
  };
  /** Send an event once more, with the same eventId and bytes */
  "POST /api/webhook-deliveries/{eventId}/redeliver": {
    path: {
      eventId: string;
    };
    answer: WebhookDelivery;
  };
  /** Send the events of a range once more */
  "POST /api/webhook-deliveries/redeliver": {
    body: {
      status?: "FAILED" | "SKIPPED" | "DELIVERED";
      event?: "deposit.confirmed" | "deposit.failed" | "withdrawal.confirmed" | "withdrawal.failed" | "transaction.confirmed" | "transaction.failed" | "webhook.test";
      /** Start of the range, included. A date-time without an offset is in UTC */
      startDate: string;
      /** End of the range, included; a date without a time includes that day. A date-time without an offset is in UTC */
      endDate: string;
      /** Only events after this one; `lastEventId` of the answer before */
      after?: string;
    };
    answer: WebhookRedelivered;
  };
  /** Send the events of a range once more, for a merchant */
  "POST /api/merchants/{merchantId}/webhook/redeliver": {
    path: {
      merchantId: string;
    };
    body: {
      status?: "FAILED" | "SKIPPED" | "DELIVERED";
      event?: "deposit.confirmed" | "deposit.failed" | "withdrawal.confirmed" | "withdrawal.failed" | "transaction.confirmed" | "transaction.failed" | "webhook.test";
      /** Start of the range, included. A date-time without an offset is in UTC */
      startDate: string;
      /** End of the range, included; a date without a time includes that day. A date-time without an offset is in UTC */
      endDate: string;
      /** Only events after this one; `lastEventId` of the answer before */
      after?: string;
    };
    answer: WebhookRedelivered;
  };
  /** Whether the webhook's endpoint acknowledges, and what waits for it */
  "GET /api/merchants/{merchantId}/webhook/status": {
    path: {
      merchantId: string;
    };
    answer: WebhookEndpoint;
  };
  /** End the pause of the webhook's endpoint: what waits is sent now */
  "POST /api/merchants/{merchantId}/webhook/resume": {
    path: {
      merchantId: string;
    };
    answer: WebhookEndpoint;
  };
  /** The merchants whose endpoint acknowledges nothing, those that fail longest first */
  "GET /api/admin/webhook-endpoints": {
    answer: {
      endpoints: FailingEndpoint[];
    };
  };
  /** Send one signed test event to the webhook now; refused while callbacks are switched off */
  "POST /api/merchants/{merchantId}/webhook/test": {
    path: {
      merchantId: string;
    };
    answer: WebhookTested;
  };
  /** Make a new signing secret; the old one signs beside it for a while */
  "POST /api/merchants/{merchantId}/webhook/rotate-secret": {
    path: {
      merchantId: string;
    };
    body?: {
      overlapHours?: number;
    };
    answer: {
      /** Shown now and never again */
      webhookSecret: string;
      previousValidUntil: Timestamp | null;
    };
  };
  /** The merchant's own top-up address, made on first use */
  "GET /api/merchants/{merchantId}/top-up-address": {
    path: {
      merchantId: string;
    };
    query: {
      network: NetworkSymbol;
    };
    answer: {
      /** Address on the network */
      address: string;
      network: NetworkSymbol;
    };
  };
  /** Fee margins of a merchant, per pair */
  "GET /api/merchants/{merchantId}/earnings": {
    path: {
      merchantId: string;
    };
    query?: {
      /** Start of the range, included. A date-time without an offset is in UTC */
      startDate?: string;
      /** End of the range, included; a date without a time includes that day. A date-time without an offset is in UTC */
      endDate?: string;
    };
    answer: {
      merchantId: string;
      earnings: Earnings[];
    };
  };
  /** Fees of a merchant with their totals, newest first */
  "GET /api/merchants/{merchantId}/charges": {
    path: {
      merchantId: string;
    };
    query?: {
      /** Page number */
      page?: number;
      /** Rows per page */
      limit?: number;
      type?: "ADDRESS_ACTIVATION" | "DIRECT_DEPOSIT" | "DEPOSIT_COMMISSION" | "WITHDRAWAL_COMMISSION" | "NETWORK_FEE" | "REVERSAL";
      /** This token alone */
      currency?: Currency;
      /** This network alone */
      network?: NetworkSymbol;
      /** Start of the range, included. A date-time without an offset is in UTC */
      startDate?: string;
      /** End of the range, included; a date without a time includes that day. A date-time without an offset is in UTC */
      endDate?: string;
    };
    answer: {
      charges: Charge[];
      /** Over everything that matches, not only this page */
      totals: ({
        type: ChargeType;
        currency: Currency;
        network: NetworkSymbol;
        count: number;
        /** Negative where a fee was returned */
        amount: string;
      })[];
      pagination: Pagination;
    };
  };
  /** Profile of a merchant */
  "GET /api/merchants/{merchantId}": {
    path: {
      merchantId: string;
    };
    answer: MerchantProfile;
  };
  /** Change a merchant's settings; status, rates, fees and limits as an administrator */
  "PATCH /api/merchants/{merchantId}": {
    path: {
      merchantId: string;
    };
    body: {
      /** https, at a public address; the host needs an IPv4 address, since callbacks are sent over IPv4 */
      webhookUrl?: string | null;
      webhookEnabled?: boolean;
      webhookEvents?: string[] | null;
      webhookTimeout?: number;
      webhookRetryCount?: number;
      successUrl?: string | null;
      failureUrl?: string | null;
      pageOrigins?: string[] | null;
      logoColor?: string | null;
    };
    answer: MerchantProfile;
  };
  /** List the keys of a merchant */
  "GET /api/merchants/{merchantId}/api-keys": {
    path: {
      merchantId: string;
    };
    answer: {
      apiKeys: ApiKey[];
    };
  };
  /** Create a key; it is shown once */
  "POST /api/merchants/{merchantId}/api-keys": {
    path: {
      merchantId: string;
    };
    body: {
      label: string;
      permissions: ("read" | "write" | "payout" | "deposit")[];
      role?: "MERCHANT" | "RESELLER";
      expiresAt?: string | null;
      ipAllowlist?: string[] | null;
    };
    answer: ApiKeyCreated;
  };
  /** Replace a key; the old one stays valid for a while */
  "POST /api/merchants/{merchantId}/api-keys/{keyId}/rotate": {
    path: {
      merchantId: string;
      keyId: string;
    };
    body?: {
      overlapHours?: number;
    };
    answer: ApiKeyRotated;
  };
  /** Give a key that needs approval its payout right; again changes nothing */
  "POST /api/merchants/{merchantId}/api-keys/{keyId}/approve": {
    path: {
      merchantId: string;
      keyId: string;
    };
    body?: Record<string, unknown>;
    answer: ApiKey;
  };
  /** Revoke a key */
  "DELETE /api/merchants/{merchantId}/api-keys/{keyId}": {
    path: {
      merchantId: string;
      keyId: string;
    };
    answer: {
      id: string;
      revokedAt: Timestamp;
    };
  };
  /** List the keys of administrators */
  "GET /api/admin/api-keys": {
    answer: {
      apiKeys: ApiKey[];
    };
  };
  /** Create a key for an administrator; it is shown once */
  "POST /api/admin/api-keys": {
    body: {
      label: string;
      permissions: ("read" | "write" | "payout" | "deposit" | "admin:read" | "admin:write" | "admin:payments" | "admin:merchants" | "admin:keys" | "admin:settings" | "admin:treasury" | "admin:ingest")[];
      expiresAt?: string | null;
      ipAllowlist?: string[] | null;
    };
    answer: ApiKeyCreated;
  };
  /** Replace an administrator's key; the old one stays valid for a while */
  "POST /api/admin/api-keys/{keyId}/rotate": {
    path: {
      keyId: string;
    };
    body?: {
      overlapHours?: number;
    };
    answer: ApiKeyRotated;
  };
  /** Revoke an administrator's key */
  "DELETE /api/admin/api-keys/{keyId}": {
    path: {
      keyId: string;
    };
    answer: {
      id: string;
      revokedAt: Timestamp;
    };
  };
  /** Create a merchant */
  "POST /api/admin/merchants": {
    body: {
      /** https, at a public address; the host needs an IPv4 address, since callbacks are sent over IPv4 */
      webhookUrl?: string | null;
      webhookEnabled?: boolean;
      webhookEvents?: string[] | null;
      webhookTimeout?: number;
      webhookRetryCount?: number;
      successUrl?: string | null;
      failureUrl?: string | null;
      pageOrigins?: string[] | null;
      logoColor?: string | null;
      name: string;
      status?: "ACTIVE" | "SUSPENDED" | "INACTIVE";
      /** Decimal fraction from 0 to 1: `0.01` is one per cent */
      depositCommissionRate?: string;
      /** Decimal string */
      directDepositFee?: string;
      rateLimits?: {
        balance?: number | null;
        deposits?: number | null;
        withdrawals?: number | null;
        transactions?: number | null;
        webhooks?: number | null;
      };
    };
    answer: MerchantCreated;
  };
  /** List merchants, newest first */
  "GET /api/admin/merchants": {
    query?: {
      /** Page number */
      page?: number;
      /** Rows per page */
      limit?: number;
      status?: "ACTIVE" | "SUSPENDED" | "INACTIVE";
      name?: string;
      resellerId?: string;
    };
    answer: {
      merchants: MerchantProfile[];
      pagination: Pagination;
    };
  };
  /** List the payouts that wait for a person, newest first */
  "GET /api/admin/approvals": {
    query?: {
      /** Page number */
      page?: number;
      /** Rows per page */
      limit?: number;
    };
    answer: {
      approvals: Approval[];
      pagination: Pagination;
    };
  };
  /** Let a waiting withdrawal go; again changes nothing */
  "POST /api/admin/withdrawals/{withdrawalId}/approve": {
    path: {
      withdrawalId: string;
    };
    body?: Record<string, unknown>;
    answer: {
      success: true;
      withdrawalId: string;
      status: "PENDING" | "CONFIRMED" | "FAILED" | "CANCELLED" | "PENDING_APPROVAL";
    };
  };
  /** Turn a waiting withdrawal down: refunded, its reference released */
  "POST /api/admin/withdrawals/{withdrawalId}/reject": {
    path: {
      withdrawalId: string;
    };
    body: {
      reason: string;
    };
    answer: {
      success: true;
      withdrawalId: string;
      status: "PENDING" | "CONFIRMED" | "FAILED" | "CANCELLED" | "PENDING_APPROVAL";
    };
  };
  /** Let a waiting settlement go; again changes nothing */
  "POST /api/admin/settlements/{settlementId}/approve": {
    path: {
      settlementId: string;
    };
    body?: Record<string, unknown>;
    answer: {
      success: true;
      settlementId: string;
      status: "PENDING" | "APPROVAL_REQUIRED" | "APPROVED" | "PROCESSING" | "SUBMITTED_TO_LEDGER" | "COMPLETED" | "FAILED" | "CANCELLED" | "REJECTED";
    };
  };
  /** Turn a waiting settlement down: refunded */
  "POST /api/admin/settlements/{settlementId}/reject": {
    path: {
      settlementId: string;
    };
    body: {
      reason: string;
    };
    answer: {
      success: true;
      settlementId: string;
      status: "PENDING" | "APPROVAL_REQUIRED" | "APPROVED" | "PROCESSING" | "SUBMITTED_TO_LEDGER" | "COMPLETED" | "FAILED" | "CANCELLED" | "REJECTED";
    };
  };
  /** List the deposits booked by hand that wait for a decision, newest first */
  "GET /api/admin/deposits": {
    query?: {
      /** Page number */
      page?: number;
      /** Rows per page */
      limit?: number;
      merchantId?: string;
    };
    answer: {
      deposits: DepositOfMerchant[];
      pagination: Pagination;
    };
  };
  /** Confirm a deposit that was booked by hand */
  "POST /api/admin/deposits/{depositId}/confirm": {
    path: {
      depositId: string;
    };
    body?: {
      reason?: string;
    };
    answer: {
      success: true;
      depositId: string;
      status: "PENDING" | "CONFIRMED" | "FAILED" | "CANCELLED";
      /** Present while another has to confirm it */
      message?: string;
    };
  };
  /** Fail a deposit that was booked by hand */
  "POST /api/admin/deposits/{depositId}/fail": {
    path: {
      depositId: string;
    };
    body?: {
      reason?: string;
    };
    answer: {
      success: true;
      depositId: string;
      status: "PENDING" | "CONFIRMED" | "FAILED" | "CANCELLED";
      /** Present while another has to confirm it */
      message?: string;
    };
  };
  /** Cancel a deposit that was booked by hand */
  "POST /api/admin/deposits/{depositId}/cancel": {
    path: {
      depositId: string;
    };
    body?: {
      reason?: string;
    };
    answer: {
      success: true;
      depositId: string;
      status: "PENDING" | "CONFIRMED" | "FAILED" | "CANCELLED";
      /** Present while another has to confirm it */
      message?: string;
    };
  };
  /** List the settlement addresses of all merchants, newest first */
  "GET /api/admin/settlement-addresses": {
    query?: {
      /** Page number */
      page?: number;
      /** Rows per page */
      limit?: number;
      active?: "true" | "false";
      merchantId?: string;
    };
    answer: {
      settlementAddresses: SettlementAddressOfMerchant[];
      pagination: Pagination;
    };
  };
  /** Let a merchant settle to a whitelisted address */
  "POST /api/admin/settlement-addresses/{addressId}/activate": {
    path: {
      addressId: string;
    };
    body?: Record<string, unknown>;
    answer: SettlementAddressOfMerchant;
  };
  /** Let a merchant no longer settle to a whitelisted address */
  "POST /api/admin/settlement-addresses/{addressId}/deactivate": {
    path: {
      addressId: string;
    };
    body?: Record<string, unknown>;
    answer: SettlementAddressOfMerchant;
  };
  /** Fee settings of withdrawals */
  "GET /api/admin/withdrawal-fees": {
    answer: WithdrawalFeeSettings;
  };
  /** Change the fee settings; withdrawals that exist keep theirs */
  "POST /api/admin/withdrawal-fees": {
    body: {
      /** Decimal string */
      baseFee?: string;
      /** Decimal fraction from 0 to 1: `0.01` is one per cent */
      markupRate?: string;
      enabled?: boolean;
    };
    answer: WithdrawalFeeSettings;
  };
  /** Calculate what a withdrawal would cost; nothing is changed */
  "PUT /api/admin/withdrawal-fees": {
    body: {
      /** Decimal string */
      amount: string;
      currency: Currency;
      network?: NetworkSymbol;
    };
    answer: {
      feeInfo: FeeInfo;
    };
  };
  /** Every pair with its terms, and what was quarantined while it was disabled */
  "GET /api/admin/pairs": {
    answer: {
      pairs: ({
        currency: Currency;
        network: NetworkSymbol;
        depositsEnabled: boolean;
        withdrawalsEnabled: boolean;
        minWithdrawal: Decimal;
        /** The fixed fee; of a dynamic pair what is charged while nothing is estimated */
        networkFee: Decimal;
        networkFeeMode: "fixed" | "dynamic";
        /** Network fee that a payout is quoted at the moment */
        quotedNetworkFee: Decimal;
        /** Null where the service has no node of the network */
        estimate: {
          /** Fee that `dynamic` charges; null: `missing` */
          networkFee: Decimal | null;
          /** The least that `dynamic` charges */
          floor: Decimal;
          /** In the network's coin, to an address that holds the token */
          costToHolder: Decimal | null;
          /** To one that does not */
          costToNewHolder: Decimal | null;
          estimatedAt: Timestamp | null;
          /** Units of the currency per coin */
          coinRate: Decimal | null;
          /** Why there is no estimate */
          missing: string | null;
        } | null;
        /** Whether the service has a node of the network */
        connected: boolean;
        /** Transfers quarantined while it was disabled, counted from their first 1,000 rows */
        unclaimed: number;
      })[];
    };
  };
  /** Change a pair; enabling deposits credits what was quarantined meanwhile */
  "PUT /api/admin/pairs": {
    body: {
      currency: Currency;
      network: NetworkSymbol;
      depositsEnabled?: boolean;
      withdrawalsEnabled?: boolean;
      /** Decimal string */
      minWithdrawal?: string;
      /** Decimal string */
      networkFee?: string;
      networkFeeMode?: "fixed" | "dynamic";
    };
    answer: PairSettings;
  };
  /** Settings for all merchants */
  "GET /api/admin/settings": {
    answer: Settings;
  };
  /** Change from which amount on settlements wait for approval, per currency */
  "PUT /api/admin/settings": {
    body: {
      settlementThresholds: {
        /** Decimal string */
        USDT?: string;
        /** Decimal string */
        USDC?: string;
      };
    };
    answer: Settings;
  };
  /** Wallets, promises, and transfers that wait, with the reason */
  "GET /api/admin/treasury": {
    answer: {
      networks: TreasuryOfNetwork[];
    };
  };
  /** How far each network is read, what holds it up, and how its nodes fare */
  "GET /api/admin/chains": {
    answer: {
      networks: ChainOfNetwork[];
    };
  };
  /** Findings of the newest comparisons of the books with themselves and the chains */
  "GET /api/admin/reconcile": {
    answer: {
      /** The newest of each scope; none before the first */
      reports: Reconciliation[];
    };
  };
  /** Cost of single transactions and the fees charged for them, newest first */
  "GET /api/admin/treasury/costs": {
    query?: {
      network?: NetworkSymbol;
      before?: string;
      /** Rows per page */
      limit?: number;
    };
    answer: {
      costs: TransferCost[];
      /** Null at the end */
      next: string | null;
    };
  };
  /** Look at who has sent a transaction that is listed as the hot wallet's; nothing is changed */
  "POST /api/admin/treasury/sender": {
    body: {
      network: NetworkSymbol;
      txid: string;
    };
    answer: {
      /** Address whose signature the transaction carries */
      sender: string;
      isHotWallet: boolean;
      /** The number that it has taken */
      nonce: number;
      /** Transfers of the service with that number: they are signed anew when it is adopted */
      promisedTo: string[];
    };
  };
  /** Adopt a transaction of the hot wallet that the service did not sign */
  "POST /api/admin/treasury/adopt": {
    body: {
      network: NetworkSymbol;
      txid: string;
      nonce: number;
      reason: string;
    };
    answer: {
      success: true;
      /** The number that it has taken */
      nonce: number;
    };
  };
  /** Take a transaction off the list that the hot wallet has not sent */
  "POST /api/admin/treasury/not-ours": {
    body: {
      network: NetworkSymbol;
      txid: string;
      reason: string;
    };
    answer: {
      success: true;
      /** Address whose signature it carries; null: the block that it was listed for is without it */
      sender: string | null;
    };
  };
  /** Take a signed transfer out of use before a block shows it */
  "POST /api/admin/treasury/cancel": {
    body: {
      /** Of the withdrawal, or of the transfer */
      id: string;
      reason: string;
    };
    answer: {
      success: true;
    };
  };
  /** Settle a sweep that succeeded without the intended transfer */
  "POST /api/admin/sweeps/{sweepId}/settle": {
    path: {
      sweepId: string;
    };
    body: {
      verdict: "moved" | "nothing_moved" | "lost";
      reason: string;
    };
    answer: {
      success: true;
      sweepId: string;
      verdict: "moved" | "nothing_moved" | "lost";
      /** Amount that its transaction brought to the hot wallet */
      arrived: Decimal;
      /** Transfers that count as moved by it */
      carried: number;
      /** Transfers that wait for another sweep */
      released: number;
    };
  };
  /** Settle a withdrawal whose transaction succeeded without the intended transfer */
  "POST /api/admin/withdrawals/{withdrawalId}/settle": {
    path: {
      withdrawalId: string;
    };
    body: {
      verdict: "paid" | "not_paid";
      reason: string;
      txid?: string;
    };
    answer: {
      success: true;
      withdrawalId: string;
      verdict: "paid" | "not_paid";
      status: "CONFIRMED" | "FAILED";
      /** False where the same verdict was given before */
      changed: boolean;
      /** Amount that reached the destination, as the chain shows it */
      arrived: Decimal;
    };
  };
  /** Write off what is gone from an address without a sweep of ours */
  "POST /api/admin/sweeps/write-off": {
    body: {
      network: NetworkSymbol;
      address: string;
      currency: Currency;
      /** Sum of the transfers that are gone */
      amount: string;
      reason: string;
    };
    answer: {
      success: true;
      network: NetworkSymbol;
      /** Address on the network */
      address: string;
      currency: Currency;
      amount: Decimal;
      /** How many are swept no more */
      transfers: number;
    };
  };
  /** Read solid blocks again and book what was missed; at most 1000 at once */
  "POST /api/admin/chains/{network}/rescan": {
    path: {
      network: string;
    };
    body: {
      from: number;
      to: number;
    };
    answer: {
      network: NetworkSymbol;
      from: number;
      to: number;
      /** Read from the first one on; fewer: ask again */
      blocks: number;
      /** Merchants with payments in them */
      merchants: number;
    };
  };
  /** Payouts that wait since the database's history has changed, and the rows that were lost */
  "GET /api/admin/failover": {
    answer: {
      stops: ({
        network: NetworkSymbol;
        reason: string;
      })[];
      holds: ({
        id: string;
        cause: "history" | "declared";
        /** Cluster and timeline */
        before: string | null;
        after: string | null;
        reason: string;
        actor: string;
        foundAt: string;
        endedAt: string | null;
        networks: ({
          network: NetworkSymbol;
          /** Solid block that this history had read */
          fromHeight: number | null;
          readHeight: number | null;
          readTime: string | null;
          headHeight: number | null;
          /** About the block time that the scan has to pass; null: the chain was not reached yet */
          untilTime: string | null;
          comparedAt: string | null;
          /** Derivation indexes that were jumped over */
          gapFirst: number;
          gapLast: number;
          gapWatched: boolean;
        })[];
      })[];
      unknownSpends: ({
        network: NetworkSymbol;
        txid: string;
        height: number;
        time: string;
        /** `hot`, or the derivation index of a deposit address */
        wallet: string;
        from: string;
        to: string;
        currency: string;
        amount: string;
        /** Open ones stop signing; `listed`: a sweep, `cold`: a transfer to the cold wallet, `unproven`: a node calls its transaction the hot wallet's, and no signature shows that yet */
        status: "open" | "listed" | "cold" | "unproven";
        /** Withdrawals of these terms that would be paid as well */
        candidates: ({
          withdrawalId: string;
          merchantId: string;
          referenceId: string | null;
          /** `queued`: it can be matched; `signed`: it is queued again when its bytes have expired, or taken out of use where they never do; `approval`: it waits for an administrator */
          state: "queued" | "signed" | "approval";
          /** Until when signed bytes may come to a block; null where they never expire */
          expiresAt: string | null;
        })[];
      })[];
      lostRecords: ({
        failoverId: string;
        merchantId: string;
        kind: string;
        recordId: string;
        referenceId: string | null;
        network: NetworkSymbol | null;
        currency: string | null;
        amount: string | null;
        destination: string | null;
        acknowledgedAt: string;
      })[];
    };
  };
  /** Say that an older copy of the database was restored where nothing shows it */
  "POST /api/admin/failover/declare": {
    body: {
      reason: string;
    };
    answer: {
      success: true;
      withdrawalId?: string;
    };
  };
  /** End a hold that waits only for networks that are served no longer */
  "POST /api/admin/failover/end": {
    body: {
      reason: string;
    };
    answer: {
      success: true;
      withdrawalId?: string;
    };
  };
  /** Say that an unknown transfer has paid a withdrawal that waits; it is not paid again */
  "POST /api/admin/failover/match": {
    body: {
      /** As the list shows it */
      txid: string;
      withdrawalId: string;
    };
    answer: {
      success: true;
      withdrawalId?: string;
    };
  };
  /** Book an unknown transfer as a withdrawal of a merchant that the database has lost */
  "POST /api/admin/failover/book": {
    body: {
      /** As the list shows it */
      txid: string;
      merchantId: string;
      /** The merchant's reference of that payout, which refuses a repeat of it; null: it had none, and a repeat is a new withdrawal, which is paid as well */
      referenceId: string | null;
      /** Although a withdrawal of the same terms lives, which will be paid as well */
      anyway?: boolean;
    };
    answer: {
      success: true;
      withdrawalId?: string;
    };
  };
  /** Write an unknown transfer off: nobody is debited, and payouts no longer wait for it */
  "POST /api/admin/failover/write-off": {
    body: {
      /** As the list shows it */
      txid: string;
      reason: string;
      /** Although a withdrawal of the same terms lives, which will be paid as well */
      anyway?: boolean;
    };
    answer: {
      success: true;
      withdrawalId?: string;
    };
  };
  /** List what the chain said and a merchant's books could not take, oldest first */
  "GET /api/admin/inbox": {
    query?: {
      /** Page number */
      page?: number;
      /** Rows per page */
      limit?: number;
      kind?: "bug" | "unreadable" | "unexpected" | "unclaimed" | "claimed" | "unproven" | "misdirected" | "renamed";
      network?: NetworkSymbol;
      merchantId?: string;
    };
    answer: {
      rows: QuarantinedRow[];
      pagination: Pagination;
    };
  };
  /** Give a row back to its merchant that a fault of the service quarantined */
  "POST /api/admin/inbox/retry": {
    body: {
      merchantId: string;
      network: NetworkSymbol;
      txid: string;
      logIndex: number;
      phase: "seen" | "solid" | "vanished" | "submitted" | "outcome" | "margin" | "swept";
    };
    answer: {
      success: true;
    };
  };
  /** Take a row off the list that was dealt with by hand; never one that is still to be booked */
  "POST /api/admin/inbox/acknowledge": {
    body: {
      merchantId: string;
      network: NetworkSymbol;
      txid: string;
      logIndex: number;
      phase: "seen" | "solid" | "vanished" | "submitted" | "outcome" | "margin" | "swept";
      reason: string;
    };
    answer: {
      success: true;
    };
  };
  /** Discard a large transfer that a second node disputes, as there is no such transfer */
  "POST /api/admin/inbox/discard": {
    body: {
      merchantId: string;
      network: NetworkSymbol;
      txid: string;
      logIndex: number;
      phase: "solid";
      reason: string;
    };
    answer: {
      success: true;
    };
  };
  /** Take in what a trusted upstream system says; once per eventId */
  "POST /api/webhook/event": {
    header: {
      /** Hex HMAC-SHA256 of the body with its keys sorted on every level. Numbers are signed as JavaScript writes them: `1.0` is signed as `1`, `1e3` as `1000` */
      "x-signature": string;
      /** Unix time in milliseconds, at most 5 minutes from the server's. It is not signed: what keeps an event from being taken in twice is its `eventId` */
      "x-timestamp": string;
    };
    body: {
      eventId: string;
      type: "deposit.confirmed" | "deposit.failed" | "deposit.cancelled" | "withdrawal.confirmed" | "withdrawal.failed";
      data: {
        depositId?: string;
        withdrawalId?: string;
        txHash?: string | null;
        reason?: string | null;
      };
    };
    answer: {
      success: true;
      message: string;
    };
  };
  /** List what administrators did, newest first */
  "GET /api/admin/audit": {
    query?: {
      /** Page number */
      page?: number;
      /** Rows per page */
      limit?: number;
      merchantId?: string;
      actor?: string;
      action?: string;
      subject?: string;
      /** Start of the range, included. A date-time without an offset is in UTC */
      startDate?: string;
      /** End of the range, included; a date without a time includes that day. A date-time without an offset is in UTC */
      endDate?: string;
    };
    answer: {
      audit: AuditLine[];
      pagination: Pagination;
    };
  };
  /** List resellers, newest first; a reseller sees itself */
  "GET /api/resellers": {
    query?: {
      /** Page number */
      page?: number;
      /** Rows per page */
      limit?: number;
    };
    answer: {
      resellers: Reseller[];
      pagination: Pagination;
    };
  };
  /** Create a reseller, with a merchant account of its own unless one is named */
  "POST /api/resellers": {
    body: {
      name: string;
      /** Address on the network */
      withdrawalAddress: string;
      network: NetworkSymbol;
      merchantId?: string;
    };
    answer: Reseller;
  };
  /** One reseller */
  "GET /api/resellers/{resellerId}": {
    path: {
      resellerId: string;
    };
    answer: Reseller;
  };
  /** Change a reseller; its registered address only as an administrator */
  "PUT /api/resellers/{resellerId}": {
    path: {
      resellerId: string;
    };
    body: {
      name?: string;
      /** Address on the network */
      withdrawalAddress?: string;
      network?: NetworkSymbol;
    };
    answer: Reseller;
  };
  /** List the merchants of a reseller's line, newest first */
  "GET /api/resellers/{resellerId}/merchants": {
    path: {
      resellerId: string;
    };
    query?: {
      /** Page number */
      page?: number;
      /** Rows per page */
      limit?: number;
    };
    answer: {
      merchants: LineMerchant[];
      pagination: Pagination;
    };
  };
  /** Earnings of a reseller from its line's fees, per pair */
  "GET /api/resellers/{resellerId}/earnings": {
    path: {
      resellerId: string;
    };
    query?: {
      /** Start of the range, included. A date-time without an offset is in UTC */
      startDate?: string;
      /** End of the range, included; a date without a time includes that day. A date-time without an offset is in UTC */
      endDate?: string;
    };
    answer: {
      resellerId: string;
      merchantId: string;
      earnings: Earnings[];
    };
  };
  /** The line a merchant is attached to */
  "GET /api/merchants/{merchantId}/reseller": {
    path: {
      merchantId: string;
    };
    answer: MerchantLine;
  };
  /** Attach a merchant to a reseller's line, or detach it */
  "PUT /api/merchants/{merchantId}/reseller": {
    path: {
      merchantId: string;
    };
    body: {
      resellerId: string | null;
      /** Decimal fraction from 0 to 1: `0.01` is one per cent */
      marginRate?: string;
      beneficiary?: "merchant" | "reseller";
    };
    answer: MerchantLine;
  };
  /** This document */
  "GET /api/openapi.json": {
    answer: Record<string, unknown>;
  };
}

/** Bodies of callbacks, by the event's name. */
export interface EventPayloads {
  "deposit.confirmed": DepositConfirmedEvent;
  "deposit.failed": DepositFailedEvent;
  "withdrawal.confirmed": WithdrawalConfirmedEvent;
  "withdrawal.failed": WithdrawalFailedEvent;
  "transaction.confirmed": TransactionConfirmedEvent;
  "transaction.failed": TransactionFailedEvent;
}
