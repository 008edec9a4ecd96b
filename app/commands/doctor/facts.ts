import type { SignerStatus } from "../../../chains/signer/socket_protocol.ts";
import type { PublicWallet } from "../../../chains/wallet/public_wallet.ts";
import type {
  AdministratorKey,
  KeptWallet,
  ServerFacts,
  SignerRole,
} from "../../../ledger/database/read_installation.ts";
import type { Network } from "../../../ledger/money/pair.ts";
import type { Priced } from "../../../rates/rates.ts";
import type { Settings } from "./read_settings.ts";

/** Something that a check has seen, or the reason why it has seen nothing. */
export type Seen<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: string };

/** Nothing was looked at, for a reason that is known before. */
export function unseen(reason: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason };
}

/**
 * Looks at one thing, apart from all others: a failure is an answer, and so is none in time.
 *
 * @param boundMs milliseconds after which it is given up
 * @param ask stops at the signal, where it can
 */
export async function look<T>(
  boundMs: number,
  ask: (signal: AbortSignal) => Promise<T>,
): Promise<Seen<T>> {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new Error(`no answer within ${boundMs / 1_000} s`);
      reject(error);
      controller.abort(error);
    }, boundMs);
  });
  try {
    return { ok: true, value: await Promise.race([ask(controller.signal), late]) };
  } catch (error) {
    return unseen(reasonOf(error));
  } finally {
    clearTimeout(timer);
  }
}

/** The reason of a failure, in one line; some errors of connections have no message but a code. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error ? String(error.code) : error.name;
  const cause = error.cause === undefined ? "" : `: ${reasonOf(error.cause)}`;
  return `${error.message || code}${cause}`.replaceAll(/\s+/g, " ");
}

/** The folder that the service keeps what is its own in. */
export interface FolderFacts {
  readonly path: string;
  /** Permission bits; null where the system has none. */
  readonly mode: number | null;
  /** True where it belongs to the user that runs this command, which is the service's. */
  readonly isOwn: boolean;
}

/** The wallet file that is configured. */
export interface WalletFacts {
  readonly file: string;
  readonly wallet: PublicWallet;
  /** True where the encrypted words are in it. */
  readonly hasWords: boolean;
}

/** Descriptors that a process can have, as far as they are wanted. */
export interface DescriptorFacts {
  readonly limit: number;
  /** True where the service has said so; otherwise it is this command's own limit. */
  readonly isService: boolean;
}

/** A node of a network. */
export interface NodeFacts {
  readonly network: Network;
  /** The variable that names it. */
  readonly variable: string;
  /** Host and port: the rest of its URL may be secret. */
  readonly label: string;
  readonly isEncrypted: boolean;
  readonly isThisMachine: boolean;
  /** Id of its first block; null where it does not serve that. */
  readonly genesis: Seen<string | null>;
  /** It is of the chain by the number that transactions are signed for; true where they carry none. */
  readonly isNumbered: Seen<boolean>;
}

/** A provider of exchange rates. */
export interface RateSourceFacts {
  readonly name: string;
  /** The stablecoins and coins that it is asked about. */
  readonly prices: readonly Priced[];
  /** One price in dollars. */
  readonly dollars: Seen<string>;
}

/** A comparison of the books. Times in Unix milliseconds. */
export interface ComparisonFacts {
  readonly scope: "quick" | "full";
  readonly finishedAt: number;
  readonly differences: number;
  readonly unchecked: number;
}

/** Answers of the database; every part is unseen where it is not reached. */
export interface DatabaseFacts {
  readonly server: Seen<ServerFacts>;
  /** It keeps what it acknowledged, as the service demands outside development. */
  readonly durable: Seen<null>;
  /** The environment that it was begun in; null: it was not begun yet. */
  readonly environment: Seen<string | null>;
  /** Its schema is that of this version. */
  readonly schema: Seen<null>;
  /** Milliseconds by which this machine's clock is ahead. */
  readonly aheadMs: Seen<number>;
  /** Callback secrets that the key was tried on, and opens: 0 where none is kept. */
  readonly callbackKey: Seen<number>;
  readonly wallets: Seen<readonly KeptWallet[]>;
  /** The roles that signers are connected as now. */
  readonly signerRoles: Seen<readonly SignerRole[]>;
  /** Ids of first blocks, by network, as the service keeps them. */
  readonly genesis: Seen<ReadonlyMap<Network, string>>;
  readonly administrators: Seen<readonly AdministratorKey[]>;
  readonly comparisons: Seen<readonly ComparisonFacts[]>;
}

/** Answers of a running service over HTTP. */
export interface ServiceFacts {
  /** The address that was asked. */
  readonly url: string;
  readonly ready: Seen<{ readonly status: string; readonly reasons: readonly string[] }>;
}

/** The answer at `PUBLIC_URL`. */
export interface FrontFacts {
  /** Status of the answer. */
  readonly status: number;
  /** True where measurements are served to everybody. */
  readonly showsMetrics: boolean;
}

/** Everything that the checks rest on; nothing in it was judged yet. */
export interface Facts {
  readonly settings: Settings;
  /** Unix milliseconds. */
  readonly now: number;
  readonly folder: Seen<FolderFacts>;
  readonly descriptors: Seen<DescriptorFacts>;
  readonly front: Seen<FrontFacts>;
  readonly service: ServiceFacts;
  readonly database: DatabaseFacts;
  readonly wallet: Seen<WalletFacts>;
  /** Unseen: the service is not apart from its signer, for that reason. */
  readonly apart: Seen<null>;
  /** null: nothing answers at its socket. */
  readonly signer: Seen<SignerStatus | null>;
  readonly nodes: readonly NodeFacts[];
  /** None where a fixed table serves. */
  readonly rates: readonly RateSourceFacts[];
}
