import { delay } from "./delay.ts";

/**
 * Runs a function while holding an exclusive lock on a file (flock(2)): between processes of one
 * machine and threads of one process. The lock goes with its holder, however it dies.
 *
 * @param path the file, created when missing
 * @param deadline Unix milliseconds after which the wait is given up
 * @throws {Error} when the lock is still held at the deadline
 */
export async function withFileLock<T>(
  path: string,
  deadline: number,
  body: () => Promise<T>,
): Promise<T> {
  using file = await Deno.open(path, { create: true, write: true });
  while (!(await file.tryLock(true))) {
    if (Date.now() > deadline) {
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
