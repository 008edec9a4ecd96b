/**
 * Lists of an answer, read up to their first wrong member. A schema of all members collects what is wrong with each: of
 * hundreds of thousands of them that takes seconds of the thread and then more of the stack than there is, which would
 * count as a fault of this program and keep the other nodes from being asked.
 *
 * @module
 */

import { z } from "zod";

/**
 * A list whose members have a shape.
 *
 * @param most members of it, default any number
 */
export function listSchema<Member extends z.ZodType>(member: Member, most = Infinity) {
  return z.custom<readonly unknown[]>(Array.isArray, "no list").transform((list, context) => {
    const read: z.output<Member>[] = [];
    const wrong = (message: string, path: readonly PropertyKey[]) => {
      context.addIssue({ code: "custom", message, path: [...path] });
      return z.NEVER;
    };
    if (list.length > most) return wrong(`more than ${most} members`, []);
    for (const [place, value] of list.entries()) {
      const parsed = member.safeParse(value);
      if (!parsed.success) {
        const [issue] = parsed.error.issues;
        return wrong(issue?.message ?? "wrong", [place, ...(issue?.path ?? [])]);
      }
      read.push(parsed.data);
    }
    return read;
  });
}
