import { needs } from "../support/permissions.ts";

Deno.test({
  name: "a death at any point of a delivery loses no event and invents none",
  ignore: needs({ net: true, read: true, write: true, run: true, env: true, sys: true }),
  fn: async (t) => {
    const { surviveCrashes } = await import("./support/crashes.ts");
    await surviveCrashes(
      ["webhook.after-claim", "webhook.after-send"],
      (name, body) => t.step(name, body),
    );
  },
});
