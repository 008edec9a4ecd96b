/** Fields of a record that are changed; absent and undefined ones stay. */
export type Patch<R> = { readonly [F in keyof R]?: R[F] | undefined };

/** The record after a change of some of its fields. */
export function patched<R extends object>(record: R, patch: Patch<NoInfer<R>>): R {
  const changes = Object.entries(patch).filter(([, value]) => value !== undefined);
  return { ...record, ...Object.fromEntries(changes) };
}
