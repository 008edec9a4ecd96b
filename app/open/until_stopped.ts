/** Waits for SIGTERM or SIGINT; repeated signals change nothing. */
export function untilStopped(): Promise<void> {
  return new Promise((resolve) => {
    Deno.addSignalListener("SIGTERM", () => resolve());
    Deno.addSignalListener("SIGINT", () => resolve());
  });
}
