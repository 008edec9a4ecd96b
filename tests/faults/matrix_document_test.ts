import { assertEquals } from "@std/assert";
import { testNeeding } from "../support/permissions.ts";
import { matrixDocument, PAGES } from "./support/matrix_document.ts";

const test = testNeeding({ read: true });

for (const page of Object.values(PAGES)) {
  test(`${page.path} is what the cells of its matrix try`, async () => {
    const text = await Deno.readTextFile(new URL(`../../${page.path}`, import.meta.url));
    assertEquals(text, matrixDocument(page));
  });
}
