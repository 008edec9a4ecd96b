import type { Config } from "../config/config.ts";
import { keep, randomHex, readKept } from "./kept_file.ts";

/** The key of the hosted pages' tokens: configured, or (development) made once and kept. */
export async function sessionSecret(config: Config): Promise<string> {
  if (config.sessionSecret !== null) return config.sessionSecret.reveal();
  const file = `${config.dataDir}/session-secret`;
  const kept = await readKept(file);
  if (kept !== null) return kept;
  const made = randomHex();
  await keep(file, made);
  return made;
}
