/**
 * What reading blocks again answers.
 *
 * @module
 */

import { z } from "zod";
import { shownNetwork } from "../http/formats.ts";

/** Answer to reading blocks again. */
export const rescanResult = z.object({
  network: shownNetwork,
  from: z.int(),
  to: z.int(),
  blocks: z.int().min(0).meta({ description: "Read from the first one on; fewer: ask again" }),
  merchants: z.int().min(0).meta({ description: "Merchants with payments in them" }),
});

/** What the reference shows for it. */
export const RESCAN_EXAMPLE = {
  network: "TRX",
  from: 1_000,
  to: 1_999,
  blocks: 1_000,
  merchants: 3,
};
