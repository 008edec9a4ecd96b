import { z } from "zod";
import settings from "../../deno.json" with { type: "json" };

/** The version of the product, written in deno.json alone; between two releases it is that of the last one. */
export const VERSION = z.object({ version: z.string() }).parse(settings).version;
