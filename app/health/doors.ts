import type { Registry } from "prom-client";
import { descriptorsUsed } from "../http/descriptors.ts";
import type { Door } from "../http/door.ts";
import type { Doors } from "../http/serve.ts";
import { registerFigures, registerSingle } from "./figures.ts";

/** Share of descriptors or connections above which operators are warned. */
const NEARLY = 0.9;
/** Milliseconds for which an accept that failed is reported. */
const FAILURE_MS = 60_000;
/** Milliseconds for which a refusal for one client's address is reported. */
const REFUSAL_MS = 60_000;

type Named =
  readonly (readonly [string, Pick<Door, "connections" | "acceptFailures" | "resets">])[];

function named({ merchants, ops }: Doors): Named {
  return ops === null ? [["api", merchants]] : [["api", merchants], ["ops", ops]];
}

/** Registers the connections from outside and the descriptors of the process. */
export function registerDoorMetrics(registry: Registry, doors: Doors, descriptors: number): void {
  registerFigures(registry, () => named(doors), {
    engine_http_connections: (door) => door.connections.open,
    engine_http_connections_limit: (door) => door.connections.limit,
    engine_http_accept_failures_total: (door) => door.acceptFailures,
    engine_http_connections_reset_total: (door) => door.resets,
  });
  registerFigures(
    registry,
    () =>
      named(doors).flatMap(([listener, { connections }]) =>
        Object.entries(connections.ended)
          .map(([reason, count]) => [[listener, reason], count] as const)
      ),
    { engine_http_connections_ended_total: (count) => count },
  );
  registerSingle(registry, {
    process_open_fds: () => descriptorsUsed(descriptors),
    process_max_fds: () => descriptors,
  });
}

/** Troubles with connections and descriptors. */
export function doorReasons(doors: Doors, descriptors: number): string[] {
  const used = descriptorsUsed(descriptors);
  const { connections, sinceAcceptFailure, sinceAddressRefusal } = doors.merchants;
  return [
    ...(used > descriptors * NEARLY
      ? [`descriptors are nearly used up: ${used} of ${descriptors} (LimitNOFILE)`]
      : []),
    ...(connections.open > connections.limit * NEARLY
      ? [`connections are nearly used up: ${connections.open} of ${connections.limit}`]
      : []),
    ...(sinceAcceptFailure !== null && sinceAcceptFailure < FAILURE_MS
      ? ["connections could not be accepted within the last minute; the log has the reason"]
      : []),
    ...addressReasons(sinceAddressRefusal),
  ];
}

/** A proxy that is not named has the connections of many clients, and soon as many as one may have. */
export function addressReasons(sinceRefusal: number | null): string[] {
  return sinceRefusal !== null && sinceRefusal < REFUSAL_MS
    ? [
      "connections of one client address were refused within the last minute; a proxy belongs " +
      "into TRUSTED_PROXIES, other clients are bounded by MAX_CONNECTIONS_PER_ADDRESS",
    ]
    : [];
}
