/**
 * Locks on files, between processes of one machine and threads of one process.
 *
 * @module
 */

import { delay } from "../../ledger/database/delay.ts";

/**
 * Runs a function while holding an exclusive lock on a file (flock(2)). The lock goes with its
 * holder, however it dies.
 *
 * @param path the file, created when missing
 * @param deadline monotonic milliseconds (`performance.now()`) after which the wait is given up
 * @throws {Error} when the lock is still held at the deadline
 */
export async function withFileLock<T>(
  path: string,
  deadline: number,
  body: () => Promise<T>,
): Promise<T> {
  using file = await Deno.open(path, { create: true, write: true });
  while (!(await file.tryLock(true))) {
    if (performance.now() > deadline) {
      throw new Error(`Cannot begin as another process holds the lock for too long: ${path}`);
    }
    await delay(25);
  }
  try {
    return await body();
  } finally {
    await file.unlock();
  }
}

/**
 * Holds a shared lock on a file until it is disposed of or this process dies.
 *
 * @param path the file, created when missing; an exclusive lock of it must be short
 */
export async function sharedFileLock(path: string): Promise<Disposable> {
  const file = await Deno.open(path, { create: true, write: true });
  await file.lock(false);
  let open = true;
  return {
    [Symbol.dispose]: () => {
      if (open) file.close();
      open = false;
    },
  };
}

/** True if no process holds a lock on the file. */
export async function isUnlocked(path: string): Promise<boolean> {
  using file = await Deno.open(path, { create: true, write: true });
  return await file.tryLock(true);
}
