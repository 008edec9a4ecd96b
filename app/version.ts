import { z } from "zod";
import settings from "../deno.json" with { type: "json" };

/** The version that runs; between two releases it is that of the last one. */
export const VERSION =
  z.object({ version: z.string().default("unreleased") }).parse(settings).version;
