/** Watches over a data folder until it is released, or is gone. */
export interface ClusterGuard {
  release(): Promise<void>;
}

/**
 * Makes sure that what outlives its parent by design, an embedded server and the programs behind development chains, ends when
 * this test process is killed: a shell waits for the process to go, then stops what the folder names and removes it. A
 * process whose id is in `service.pid` of the folder is killed first.
 *
 * @param dataDir what `startEmbeddedPostgres` or a development chain is given
 */
export async function guardCluster(dataDir: string): Promise<ClusterGuard> {
  const script = `
    while kill -0 "$0" 2>/dev/null; do
      [ -e "$1/released" ] && exit; [ -d "$1" ] || exit; sleep 1
    done
    [ -e "$1/service.pid" ] && kill -KILL "$(cat "$1/service.pid")"
    for place in "$1"/dev-chain-*/anvil.port; do
      anvil="$(grep -o '"pid":[0-9]*' "$place" 2>/dev/null | tr -dc 0-9)"
      [ "$(cat "/proc/$anvil/comm" 2>/dev/null)" = anvil ] && kill -KILL "$anvil"
    done
    folder="$1/postgres"
    [ -e "$1/postgres-path" ] && folder="$(cat "$1/postgres-path")"
    kill -QUIT "$(head -n 1 "$folder/postmaster.pid")"; sleep 1
    [ -e "$1/postgres-path" ] && rm -rf "$(dirname "$folder")"
    rm -rf "$1"`;
  await new Deno.Command("/bin/sh", {
    args: ["-c", `( ${script} ) </dev/null >/dev/null 2>&1 &`, String(Deno.pid), dataDir],
    cwd: "/",
    // A session of its own (which spawn() gives and output() does not): Ctrl-C ends the tests only.
    detached: true,
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn().status;
  return { release: () => Deno.writeTextFile(`${dataDir}/released`, "") };
}
