import { fileURLToPath } from "node:url";
import { delay } from "../../ledger/database/delay.ts";
import { seeded } from "../faults/support/seeded.ts";
import { withService } from "../support/service.ts";
import { auditAbuse, type Phase } from "./abuse_audit.ts";
import type { AbuseSoakOptions } from "./abuse_options.ts";
import { nothingHeard, workFor } from "./abuse_traffic.ts";
import type { Attack, Order } from "./abuse_client.ts";
import { type AbuseWorld, holdRow, makeWorld } from "./abuse_world.ts";

/** Findings of a soak. */
export interface AbuseFound {
  readonly lines: readonly string[];
  readonly faults: readonly string[];
}

/** Pause between two phases, so that one's last requests are not the next one's. */
const BETWEEN_MS = 2_000;
/** Connections with held bodies: those of ten accounts would take all places if they were kept. */
const HOLDING = 300;
/** Connections of a crowd: more than one account has places. */
const CROWD = 320;
/** Connections that one process of abuse holds: fewer than the system allows it descriptors. */
const CONNECTIONS_EACH = 9_000;

/** Runs a soak to its end. @param note told how it goes */
export async function runAbuseSoak(
  options: AbuseSoakOptions,
  note: (text: string) => void,
): Promise<AbuseFound> {
  const { descriptors } = options;
  return await withService(async (service) => {
    await service.start();
    note("the service is up");
    const world = await makeWorld(service, options, seeded(options.seed));
    note(`${world.merchants.length} merchants are funded`);
    const { pid } = service;
    const phases: Phase[] = [];
    for (const [name, attacks] of attacksOf(world, options)) {
      const phase = await onePhase(name, attacks, world, options.seconds);
      phases.push(phase);
      note(describe(phase));
      await delay(BETWEEN_MS);
    }
    const faults = await auditAbuse(service, phases);
    if (service.pid !== pid) faults.push("the service was started again");
    return { lines: phases.map(describe), faults };
  }, {
    descriptors,
    env: { DEV_CHAIN_BLOCK_MS: "1000", LOG_LEVEL: "warning" },
  });
}

/** Undisturbed, each kind alone, all together, undisturbed. */
function attacksOf(
  { suspects }: AbuseWorld,
  { connections, openRate }: AbuseSoakOptions,
): readonly (readonly [string, readonly Attack[]])[] {
  const nulPaths: Attack = { kind: "nul-paths", apiKey: suspects.payer, perSecond: 20 };
  const held: Attack = { kind: "connections", count: connections, perSecond: openRate };
  const publicRoutes: Attack = { kind: "public-routes", perSecond: 70 };
  const lists: Attack = { kind: "large-lists", apiKeys: suspects.readers };
  const row: Attack = {
    kind: "held-row",
    apiKey: suspects.heldKey,
    destination: suspects.destination,
    perSecond: 1,
  };
  const bodies: Attack = { kind: "held-bodies", apiKeys: suspects.holders, count: HOLDING };
  const crowding: Attack = {
    kind: "crowding",
    apiKey: suspects.payer,
    destination: suspects.destination,
    count: CROWD,
  };
  return [
    ["before", []],
    ["NUL in paths", [nulPaths]],
    ["connections", [held]],
    ["public routes", [publicRoutes]],
    ["large lists", [lists]],
    ["held row", [row]],
    ["held bodies", [bodies]],
    ["crowding", [crowding]],
    ["all together", [nulPaths, held, publicRoutes, lists, row, bodies]],
    ["after", []],
  ];
}

async function onePhase(
  name: string,
  attacks: readonly Attack[],
  world: AbuseWorld,
  seconds: number,
): Promise<Phase> {
  const heard = nothingHeard();
  const { baseUrl, merchants, suspects } = world;
  const port = Number(new URL(baseUrl).port);
  const needsRow = attacks.some(({ kind }) => kind === "held-row");
  const row = needsRow ? await holdRow(world.sql, suspects.heldId) : null;
  const clients = clientsOf(attacks).map((attacks) => startClient({ port, attacks }));
  try {
    await workFor(seconds, baseUrl, merchants, suspects.destination, heard);
  } finally {
    for (const client of clients) client.kill("SIGKILL");
    await Promise.all(clients.map(({ status }) => status));
    await row?.release();
  }
  const load = (await Deno.readTextFile("/proc/loadavg")).split(" ")[0] ?? "?";
  return { name, isAbuse: attacks.length > 0, heard, load };
}

/** Divides attacks among processes, as each of them may have only so many connections. */
function clientsOf(attacks: readonly Attack[]): readonly (readonly Attack[])[] {
  const clients: Attack[][] = [];
  const others: Attack[] = [];
  for (const attack of attacks) {
    if (attack.kind !== "connections") others.push(attack);
    else {
      const processes = Math.ceil(attack.count / CONNECTIONS_EACH);
      const count = Math.ceil(attack.count / processes);
      const perSecond = attack.perSecond / processes;
      for (let i = 0; i < processes; i++) clients.push([{ ...attack, count, perSecond }]);
    }
  }
  return others.length === 0 ? clients : [...clients, others];
}

function startClient(order: Order): Deno.ChildProcess {
  const program = fileURLToPath(new URL("./abuse_client.ts", import.meta.url));
  const args = ["run", "--no-check", "--allow-net", "--allow-read", program, JSON.stringify(order)];
  return new Deno.Command(Deno.execPath(), { args, stdin: "null" }).spawn();
}

function describe({ name, heard, load }: Phase): string {
  const statuses = [...heard.statuses].toSorted().map(([status, count]) => `${status}: ${count}`);
  return `${name.padEnd(14)} p50 ${ms(heard.latencies, 0.5)}, p99 ${ms(heard.latencies, 0.99)}, ` +
    `max ${ms(heard.latencies, 1)}; ${statuses.join(", ")}; load ${load}`;
}

function ms(latencies: readonly number[], share: number): string {
  const sorted = latencies.toSorted((a, b) => a - b);
  return `${Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0)} ms`;
}
