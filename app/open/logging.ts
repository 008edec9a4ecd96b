import {
  configure,
  getConsoleSink,
  getJsonLinesFormatter,
  getTextFormatter,
} from "@logtape/logtape";
import type { Config } from "../config/config.ts";

/** Sends logs to the standard output: as text in development, as JSON lines elsewhere. */
export async function configureLogging(
  config: Pick<Config, "environment" | "logLevel">,
): Promise<void> {
  const formatter = config.environment === "development"
    ? getTextFormatter()
    : getJsonLinesFormatter({ properties: "flatten" });
  await configure({
    sinks: { console: getConsoleSink({ formatter }) },
    loggers: [
      { category: ["engine"], lowestLevel: config.logLevel, sinks: ["console"] },
      { category: ["logtape"], lowestLevel: "warning", sinks: ["console"] },
    ],
  });
}
