import { z } from "zod";
import { knownFamilyOf } from "../../../chains/families.ts";
import type { Fault } from "../../../devchain/faults.ts";
import { type Answer, eventually, send } from "./client.ts";
import { NODE_MS } from "./patience.ts";
import type { RigFamily } from "./rig_family.ts";

/** Blocks from head to the solid one. */
export const SOLID_LAG = 3;
/** Far more than a cell uses up: whether a fault happened is seen by what is left of it. */
const TIMES = 1_000;

/** A fault as it is put in force. */
export type RigFault =
  & Pick<Fault, "path" | "kind">
  & Partial<
    Pick<Fault, "late" | "forget" | "perSecond" | "suspendSeconds" | "behind">
  >;

const Info = z.object({
  head: z.number(),
  solid: z.number(),
  pending: z.number(),
  faults: z.array(z.looseObject({ times: z.number().nullable() })),
});

/** The development chain of a rig with its levers; blocks are made on demand. */
export interface RigNode {
  readonly chainUrl: string;
  /** The token's contract. */
  readonly usdt: string;
  /** Folder of the chain's own. */
  readonly dataDir: string;
  info(): Promise<z.infer<typeof Info>>;
  control(path: string, body: unknown): Promise<Answer>;
  /** Puts exactly these faults in force. */
  setFaults(faults: readonly RigFault[]): Promise<void>;
  /** Waits until a fault in force has happened. */
  untilHit(): Promise<void>;
  /** Waits until one has happened after this call. */
  untilHitAgain(): Promise<void>;
  mine(blocks: number, intervalMs?: number): Promise<void>;
}

/** Starts the chain of a rig. @param treasury funded from the first block on; null: no address is */
export async function openRigNode(
  { network }: RigFamily,
  treasury: string | null,
): Promise<RigNode & AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const development = knownFamilyOf(network)?.development;
  if (development === undefined) throw new Error(`Cannot start a chain as it is none: ${network}`);
  const dataDir = await Deno.makeTempDir({ prefix: "engine-matrix-" });
  stack.defer(() => Deno.remove(dataDir, { recursive: true }));
  const dev = await development.start({
    network,
    dataDir,
    port: 0,
    blockMs: 0,
    solidLag: SOLID_LAG,
    ...(treasury === null ? {} : { treasury }),
  });
  stack.defer(() => dev.stop());
  const control = async (path: string, body: unknown) => {
    const answer = await send(dev.url + path, "POST", body);
    if (answer.status !== 200) throw new Error(`The chain refused: ${JSON.stringify(answer.body)}`);
    return answer;
  };
  const info = async () => Info.parse((await send(`${dev.url}/dev/info`, "GET")).body);
  const timesLeft = async () => {
    const { faults } = await info();
    return Math.min(...faults.map(({ times }) => times ?? TIMES));
  };
  const untilFewer = async (times: number) => {
    await eventually("a fault", async () => await timesLeft() < times, NODE_MS);
  };
  const owned = stack.move();
  return {
    chainUrl: dev.url,
    usdt: dev.usdt,
    dataDir,
    info,
    control,
    mine: async (blocks, intervalMs = 100) => {
      await control("/dev/mine", { blocks, intervalMs });
    },
    setFaults: async (faults) => {
      await control("/dev/config", { faults: faults.map((fault) => ({ ...fault, times: TIMES })) });
    },
    untilHit: () => untilFewer(TIMES),
    untilHitAgain: async () => untilFewer(await timesLeft()),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}
