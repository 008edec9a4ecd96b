import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { dirname, join } from "node:path";
import { postgresBinaries, serverUser } from "../../app/postgres/programs.ts";
import { needs } from "../support/permissions.ts";

const ignore = needs({ read: true, write: true, run: true, env: true, sys: true });

/** A package as it is without its install script: no links; with programs of a few bytes. */
async function withPackage(
  body: (folder: string, version: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "engine-package-" });
  const version = `0.0.0-test.${crypto.randomUUID().slice(0, 8)}`;
  await Deno.mkdir(join(folder, "native", "bin"), { recursive: true });
  await Deno.mkdir(join(folder, "native", "lib"));
  await Deno.writeTextFile(join(folder, "package.json"), JSON.stringify({ version }));
  await Deno.writeTextFile(join(folder, "native", "bin", "pg_ctl"), "program");
  await Deno.writeTextFile(join(folder, "native", "lib", "liba.so.1.2"), "library");
  await Deno.writeTextFile(
    join(folder, "native", "pg-symlinks.json"),
    JSON.stringify([{ source: "native/lib/liba.so.1.2", target: "native/lib/liba.so.1" }]),
  );
  await Deno.chmod(folder, 0o755);
  try {
    await body(folder, version);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test({
  name: "links that the install script did not make are made",
  ignore,
  fn: () =>
    withPackage(async (folder) => {
      const { pgCtl } = await postgresBinaries(null, folder, folder);
      assertEquals(pgCtl, join(folder, "native", "bin", "pg_ctl"));
      assertEquals(
        await Deno.readTextFile(join(folder, "native", "lib", "liba.so.1")),
        "library",
      );
    }),
});

Deno.test({
  name: "programs that the server's account cannot reach are copied to where it can",
  ignore: ignore || Deno.uid() !== 0,
  fn: () =>
    withPackage(async (folder, version) => {
      await Deno.chmod(folder, 0o700);
      const user = await serverUser(null);
      const { pgCtl } = await postgresBinaries(user, folder, folder);
      const copy = dirname(dirname(pgCtl));
      try {
        assertStringIncludes(copy, `postgresql-${version}`);
        const ran = await new Deno.Command("/usr/bin/test", {
          args: ["-x", pgCtl],
          uid: user?.uid ?? 0,
          gid: user?.gid ?? 0,
          cwd: "/",
        }).output();
        assert(ran.success);
        assertEquals(await Deno.readTextFile(join(copy, "lib", "liba.so.1")), "library");
        assertEquals((await postgresBinaries(user, folder, folder)).pgCtl, pgCtl);
      } finally {
        await Deno.remove(copy, { recursive: true });
      }
    }),
});
