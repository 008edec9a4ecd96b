import { Gauge, type Registry } from "prom-client";
import { descriptorsUsed } from "../http/descriptors.ts";
import type { Door } from "../http/door.ts";
import type { Doors } from "../http/serve.ts";

/** Share of descriptors or connections above which operators are told. */
const NEARLY = 0.9;
/** Milliseconds for which an accept that failed is told. */
const FAILURE_MS = 60_000;
/** Milliseconds for which a refusal for one client's address is told. */
const REFUSAL_MS = 60_000;

type Named = readonly (readonly [string, Pick<Door, "connections" | "acceptFailures">])[];

function named({ merchants, ops }: Doors): Named {
  return ops === null ? [["api", merchants]] : [["api", merchants], ["ops", ops]];
}

/** Registers the connections from outside and the descriptors of the process. */
export function registerDoorMetrics(registry: Registry, doors: Doors, descriptors: number): void {
  const registers = [registry];
  const perDoor = (
    name: string,
    help: string,
    read: (door: Pick<Door, "connections" | "acceptFailures">) => number,
  ) =>
    new Gauge({
      name,
      help,
      labelNames: ["listener"],
      registers,
      collect() {
        for (const [listener, door] of named(doors)) this.set({ listener }, read(door));
      },
    });
  perDoor("http_connections", "Connections from outside", (door) => door.connections.open);
  perDoor("http_connections_limit", "Connections at most", (door) => door.connections.limit);
  perDoor("http_accept_failures", "Accepts that failed", (door) => door.acceptFailures);
  new Gauge({
    name: "http_connections_ended",
    help: "Connections that were ended or refused, by reason",
    labelNames: ["listener", "reason"],
    registers,
    collect() {
      for (const [listener, { connections }] of named(doors)) {
        for (const [reason, count] of Object.entries(connections.ended)) {
          this.set({ listener, reason }, count);
        }
      }
    },
  });
  new Gauge({
    name: "descriptors_used",
    help: "File descriptors in use, at least",
    registers,
    collect() {
      this.set(descriptorsUsed(descriptors));
    },
  });
  new Gauge({
    name: "descriptors_limit",
    help: "File descriptors that the process can have, at least",
    registers,
    collect() {
      this.set(descriptors);
    },
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
      ? ["connections could not be accepted within the last minute"]
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
