/** The reasons that an accept failed, by what the door does about them. */
export type AcceptTrouble =
  /** The connection was reset or failed before it was accepted: its trouble alone, the next one is there. */
  | "reset"
  /** The process or the machine has no descriptor or no memory left: others' idle connections hold some. */
  | "exhausted"
  /** Anything else: worth a pause, and no reason to end connections of others. */
  | "unknown";

/** Errors of the network that Linux reports by an accept when they concern the new connection, see accept(2). */
const OF_NEW_CONNECTION = [
  "EHOSTDOWN",
  "EHOSTUNREACH",
  "ENETDOWN",
  "ENETUNREACH",
  "ENONET",
  "ENOPROTOOPT",
  "EOPNOTSUPP",
  "EPERM",
  "EPROTO",
];

const BY_CODE: ReadonlyMap<unknown, AcceptTrouble> = new Map<string, AcceptTrouble>([
  ["ENOTCONN", "reset"],
  ["ECONNRESET", "reset"],
  ["ECONNABORTED", "reset"],
  ...OF_NEW_CONNECTION.map((code) => [code, "reset"] as const),
  ["EMFILE", "exhausted"],
  ["ENFILE", "exhausted"],
  ["ENOBUFS", "exhausted"],
  ["ENOMEM", "exhausted"],
]);

/** Tells what an accept failed of, by the system's code. */
export function acceptTroubleOf(error: unknown): AcceptTrouble {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return BY_CODE.get(code) ?? "unknown";
}
