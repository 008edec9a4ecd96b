import { fingerprintOf, networkFingerprint } from "../../../chains/wallet/public_wallet.ts";
import { isNetwork, type Network } from "../../../ledger/money/pair.ts";
import type { Facts, WalletFacts } from "./facts.ts";
import { faultsOf, type Finding, missing, ok, orWell, unknown } from "./finding.ts";

const SHOW_PUBLIC =
  "deno task wallet show-public, on the signer's machine, makes the service's file";
const PAGE = 'docs/operations.md, "Users and groups"';

type KeyFacts = Pick<Facts, "wallet" | "database" | "apart" | "signer"> & {
  /** Networks with nodes. */
  readonly networks: readonly Network[];
  /** The signer's socket as it is configured. */
  readonly socket: string | null;
};

/** Judges who has the keys, and whether service, signer and database mean the same wallet. */
export function judgeKeys(facts: KeyFacts): readonly Finding[] {
  return [
    ...walletPoints(facts),
    ...keptPoints(facts),
    usersPoint(facts),
    ...signerPoints(facts),
  ];
}

function usersPoint({ apart, signer }: KeyFacts): Finding {
  if (!apart.ok) {
    return missing(
      "users",
      apart.reason,
      `two system users, this command run as the service's: ${PAGE}`,
    );
  }
  // the owner of the socket is the signer's user
  return signer.ok && signer.value !== null
    ? ok("users", "the service is apart from its signer")
    : unknown("users", "the signer does not answer, so that its user cannot be compared");
}

function walletPoints({ wallet, networks }: KeyFacts): readonly Finding[] {
  if (!wallet.ok) return [missing("wallet", wallet.reason, SHOW_PUBLIC)];
  const { file, hasWords, wallet: { development, walletId, networks: accounts } } = wallet.value;
  const found = faultsOf("wallet", [
    development &&
    [`made for development: ${file}`, "deno task wallet create, as the signer's user"],
    hasWords && [`the service's file has the encrypted words: ${file}`, SHOW_PUBLIC],
    ...networks.filter((network) => accounts[network] === undefined).map((network) =>
      [
        `it has no account of ${network}`,
        `a wallet with it, or no ${network}_NODE_URLS`,
      ] as const
    ),
  ]);
  return orWell(found, "wallet", walletId);
}

function keptPoints({ wallet, database, networks }: KeyFacts): readonly Finding[] {
  const point = "wallet of the database";
  if (!wallet.ok) return [unknown(point, "the wallet is not there")];
  if (!database.wallets.ok) return [unknown(point, database.wallets.reason)];
  if (networks.length === 0) return [unknown(point, "no network is open")];
  const rows = database.wallets.value;
  const found = faultsOf(
    point,
    networks.map((network) => {
      const row = rows.find((one) => one.network === network);
      const own = networkFingerprint(wallet.value.wallet, network);
      if (row === undefined) {
        return [`${network}: the database has none yet`, "start the service: deno task serve"];
      }
      if (row.fingerprint === null) {
        return [
          `${network}: the database has addresses of a wallet of the old form`,
          'a new wallet and database: docs/wallet.md, "Moving from an old wallet"',
        ];
      }
      if (row.fingerprint !== own) {
        return [
          `${network}: the database was begun with another wallet (${row.walletId}), or the file was changed`,
          SHOW_PUBLIC,
        ];
      }
      return !row.isAttested && [
        `${network}: no signer has said yet that it has the keys, so that no address is handed out`,
        "start the signer and the service together",
      ];
    }),
  );
  return orWell(found, point, "the same, attested by the signer");
}

function signerPoints(facts: KeyFacts): readonly Finding[] {
  const { signer, socket, wallet } = facts;
  const unreached = (caps: string, ...fault: readonly [text: string, mend: string]) => [
    missing("signer", ...fault),
    unknown("caps", caps),
  ];
  if (socket === null) {
    return unreached(
      "there is no signer to ask",
      "SIGNER_SOCKET is not set: the service has the keys itself",
      "deno task signer as a user of its own, SIGNER_SOCKET for both",
    );
  }
  if (!signer.ok) {
    return unreached(
      "the signer is not reached",
      `${socket}: ${signer.reason}`,
      `restart it; where it is refused, make the service's user a member of SIGNER_SOCKET_GROUP: ${PAGE}`,
    );
  }
  const status = signer.value;
  if (status === null) {
    return unreached(
      "the signer does not run",
      `nothing answers at ${socket}`,
      "deno task signer",
    );
  }
  const roles = facts.database.signerRoles;
  const found = faultsOf("signer", [
    isOther(wallet, status.fingerprint) &&
    [`it has another wallet: ${status.walletId}`, SHOW_PUBLIC],
    !status.reachesDatabase && [
      "it does not reach its database",
      "the signer's log has the reason: SIGNER_DATABASE_URL, or deno task signer role <name>",
    ],
    ...(roles.ok ? roles.value : []).filter(({ mayWrite }) => mayWrite).map(({ name }) =>
      [
        `its role may change the books: ${name}`,
        "a role of its own in SIGNER_DATABASE_URL, reduced by deno task signer role <name>",
      ] as const
    ),
    status.paused && [
      `it is paused${status.pauseNote === "" ? "" : `: ${status.pauseNote}`}`,
      "deno task signer resume",
    ],
  ]);
  return [
    ...orWell(found, "signer", "answers, with the wallet of the service"),
    ...orWell(
      faultsOf(
        "caps",
        status.uncapped.map((asset) =>
          [`${asset} lacks one per transaction or per day`, capsOf(asset)] as const
        ),
      ),
      "caps",
      "every token has one per transaction and one per day",
    ),
  ];
}

function isOther(wallet: KeyFacts["wallet"], fingerprint: string): boolean {
  return wallet.ok && fingerprintOf((wallet.value satisfies WalletFacts).wallet) !== fingerprint;
}

function capsOf(asset: string): string {
  const [currency = "USDT", network = "TRX"] = asset.split("/");
  const prefix = isNetwork(network) ? network : "TRX";
  return `${prefix}_SIGNER_PER_TRANSACTION=${currency}:<amount> and ${prefix}_SIGNER_PER_DAY of the signer, then restart it`;
}
