import type { BenchCluster } from "../bench_cluster.ts";
import type { Options } from "../options.ts";
import type { EvmMeasurement } from "./evm_report.ts";
import { measureEvmService } from "./measure_evm_service.ts";
import { measureEvmSigning } from "./measure_evm_signing.ts";
import { measureIdleCalls } from "./measure_idle_calls.ts";
import { measureLookUp } from "./measure_look_up.ts";
import { measureParsing } from "./measure_parsing.ts";
import { measureSweepGas } from "./measure_sweep_gas.ts";

/** A lane's turn takes seconds, so that less says nothing about a steady pace. */
const LIFE_S = 10;
/** Reading and signing are steady within so many seconds. */
const STEADY_S = 2;

/** Measures the chains of Ethereum. @param found takes the figures as they come, so that a run that fails keeps those it has */
export async function measureEvm(
  cluster: BenchCluster,
  { seconds, rounds }: Pick<Options, "seconds" | "rounds">,
  note: (text: string) => void,
  found: EvmMeasurement[],
): Promise<void> {
  note("evm: reading blocks");
  found.push(...await measureParsing(Math.min(seconds, STEADY_S), rounds));
  note("evm: owners of addresses");
  found.push(...await measureLookUp(cluster, rounds));
  note("evm: signing");
  found.push(...await measureEvmSigning(rounds));
  note("evm: gas of sweeps");
  found.push(...await measureSweepGas());
  await measureEvmService(Math.max(LIFE_S, seconds * 5), note, found);
  note("evm: calls while idle");
  found.push(...await measureIdleCalls());
}
