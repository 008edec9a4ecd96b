/**
 * Tries what a signer must not be able to do and prints what came of it, as JSON. Run with the
 * flags of the signer's process.
 *
 * @module
 */

const { stateDir, walletFile, certificates, socket, outside, port } = JSON.parse(
  Deno.args[0] ?? "{}",
);

const tries: Record<string, () => unknown> = {
  "read its wallet": () => Deno.readTextFile(walletFile),
  "read the certificates of its database": () => Deno.readTextFile(certificates),
  "write its state": () => Deno.writeTextFile(`${stateDir}/spent.json`, "{}"),
  "listen on its socket": () => Deno.listen({ transport: "unix", path: socket }).close(),
  "read another file": () => Deno.readTextFile(outside),
  "read the password file": () => Deno.readTextFile("/etc/passwd"),
  "write its wallet": () => Deno.writeTextFile(walletFile, ""),
  "write another file": () => Deno.writeTextFile(`${outside}.copy`, ""),
  "listen on another socket": () => Deno.listen({ transport: "unix", path: `${stateDir}/x.sock` }),
  "reach another port": () => Deno.connect({ hostname: "127.0.0.1", port }),
  "listen on a port": () => Deno.listen({ hostname: "127.0.0.1", port: 0 }),
  "fetch": () => fetch(`http://127.0.0.1:${port}/`),
  "resolve a name": () => Deno.resolveDns("example.org", "A"),
  "read the environment": () => Deno.env.toObject(),
  "read a variable": () => Deno.env.get("HOME"),
  "run a program": () => new Deno.Command("/bin/true").output(),
  "load a library": () => Deno.dlopen("libc.so.6", {}),
  "ask about the system": () => Deno.hostname(),
  "import from outside": () => import(`file://${outside}`),
};

const found: Record<string, string> = {};
for (const [what, attempt] of Object.entries(tries)) {
  try {
    await attempt();
    found[what] = "done";
  } catch (error) {
    // an import that is not allowed throws a TypeError which says the same
    const isDenied = error instanceof Deno.errors.NotCapable ||
      /Requires \w+ access/.test(String(error));
    found[what] = isDenied ? "denied" : String(error);
  }
}
await Deno.stdout.write(new TextEncoder().encode(JSON.stringify(found)));
