/**
 * What operators' tools read.
 *
 * @module
 */

import { z } from "zod";

/** Answer of `/healthz`. */
export const alive = z.object({ status: z.literal("ok") });

/** Answer of `/readyz`. */
export const ready = z.object({
  status: z.enum(["ok", "degraded", "unready"]),
  reasons: z.array(z.string()),
}).meta({ id: "Readiness" });
