import { z } from "zod";
import { readKept } from "../open/kept_file.ts";

const Credentials = z.object({
  baseUrl: z.string(),
  admin: z.object({ apiKey: z.string() }),
  chains: z.record(z.string(), z.object({ url: z.string() })),
});

/** What commands need of the development credentials. */
export type CommandCredentials = z.infer<typeof Credentials>;

/** The credentials that a first start in development wrote; `null` where there are none. */
export async function readCredentials(dataDir: string): Promise<CommandCredentials | null> {
  const text = await readKept(`${dataDir}/dev-credentials.json`);
  return text === null ? null : Credentials.parse(JSON.parse(text));
}
