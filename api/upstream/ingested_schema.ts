/**
 * What an upstream system is answered.
 *
 * @module
 */

import { z } from "zod";

/** Answer to an event that was taken in. */
export const ingestedSchema = z.object({ success: z.literal(true), message: z.string() });

/** What the reference shows for it. */
export const INGESTED_EXAMPLE = { success: true, message: "Event taken in" };
