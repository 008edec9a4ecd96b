import { needs } from "../support/permissions.ts";

Deno.test({
  name: "a death at any point between the books and the chain loses nothing and does nothing twice",
  ignore: needs({ net: true, read: true, write: true, run: true, env: true, sys: true }),
  fn: async (t) => {
    const { surviveCrashes } = await import("./support/crashes.ts");
    await surviveCrashes([
      "addresses.after-watch",
      "watcher.after-inbox",
      "watcher.after-cursor",
      "treasury.after-sign",
      "treasury.after-commit",
      "treasury.after-broadcast",
    ], (name, body) => t.step(name, body));
  },
});
