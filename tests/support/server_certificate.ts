import type { PrivateCluster } from "./private_cluster.ts";

/**
 * Has a cluster speak TLS with a certificate of its own making (needs `openssl`).
 *
 * @param options.name host name that the certificate is for; default `localhost`
 * @param options.days how long it is valid from now on; default 2
 * @returns path of the certificate
 */
export async function serveTls(
  cluster: PrivateCluster,
  options: { readonly name?: string; readonly days?: number } = {},
): Promise<string> {
  const sql = cluster.connect({ max: 1 });
  const [row] = await sql<{ folder: string }[]>`
    SELECT current_setting('data_directory') AS folder`;
  const folder = row?.folder ?? "";
  const { uid, gid } = await Deno.stat(folder);
  const [certificate, key] = [`${folder}/server.crt`, `${folder}/server.key`];
  const name = options.name ?? "localhost";
  const { success, stderr } = await new Deno.Command("openssl", {
    args: [
      ..."req -new -x509 -nodes -newkey ec -pkeyopt ec_paramgen_curve:prime256v1".split(" "),
      ...["-days", String(options.days ?? 2), "-subj", `/CN=${name}`],
      ...["-addext", `subjectAltName=DNS:${name}`, "-out", certificate, "-keyout", key],
    ],
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  for (const file of [certificate, key]) {
    await Deno.chown(file, uid, gid);
    await Deno.chmod(file, 0o600);
  }
  await sql`ALTER SYSTEM SET ssl = on`;
  await sql`SELECT pg_reload_conf()`;
  for (let tries = 0; tries < 500; tries++) {
    const [now] = await sql<{ ssl: string }[]>`SELECT current_setting('ssl') AS ssl`;
    if (now?.ssl === "on") break;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await sql.end();
  return certificate;
}

/** True when `openssl` is there to make certificates. */
export async function hasOpenssl(): Promise<boolean> {
  try {
    return (await new Deno.Command("openssl", { args: ["version"], stdout: "null" }).output())
      .success;
  } catch {
    return false;
  }
}
