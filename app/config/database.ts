import { z } from "zod";
import { parseDatabaseUrl } from "../../ledger/database/database_url.ts";
import { Secret } from "./secret.ts";

/** A variable that names a PostgreSQL database, with one host or several. */
export const databaseUrl = z.string().superRefine((text, context) => {
  const parsed = parseDatabaseUrl(text);
  if (!parsed.ok) context.addIssue({ code: "custom", message: parsed.fault });
}).transform((text) => new Secret(text));
