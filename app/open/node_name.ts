import type { Config } from "../config/config.ts";
import { keep, readKept } from "./kept_file.ts";

/**
 * Name of this node, made once and kept in its data folder. The folder is locked, so whatever
 * carries this name and was there before this process is a dead one's.
 */
export async function nodeName(config: Pick<Config, "dataDir">): Promise<string> {
  const file = `${config.dataDir}/node-name`;
  const kept = await readKept(file);
  if (kept !== null) return kept;
  const made = crypto.randomUUID();
  await keep(file, made);
  return made;
}
