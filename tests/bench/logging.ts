import { configure, getConsoleSink } from "@logtape/logtape";

/** Shows what goes wrong in the engine while it is measured. */
export async function showWarnings(): Promise<void> {
  await configure({
    sinks: { console: getConsoleSink() },
    loggers: ["engine", "logtape"].map((category) => ({
      category: [category],
      lowestLevel: "warning",
      sinks: ["console"],
    })),
  });
}
