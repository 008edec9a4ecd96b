import { needs } from "../support/permissions.ts";

Deno.test({
  name: "a death at any point of the journal loses nothing and does nothing twice",
  ignore: needs({ net: true, read: true, write: true, run: true, env: true, sys: true }),
  fn: async (t) => {
    const { surviveCrashes } = await import("./support/crashes.ts");
    await surviveCrashes(
      ["journal.before-write", "journal.after-write"],
      (name, body) => t.step(name, body),
    );
  },
});
