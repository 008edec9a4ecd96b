import type { Config } from "../config/config.ts";
import { keep, randomHex, readKept } from "./kept_file.ts";

/** The key of upstream systems' signatures: configured, or (development) made once and kept. */
export async function ingestSecret(config: Config): Promise<string> {
  if (config.ingestSecret !== null) return config.ingestSecret.reveal();
  const file = `${config.dataDir}/ingest-secret`;
  const kept = await readKept(file);
  if (kept !== null) return kept;
  const made = randomHex();
  await keep(file, made);
  return made;
}
