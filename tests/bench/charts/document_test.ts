import { assert, assertEquals } from "@std/assert";
import { needs } from "../../support/permissions.ts";
import { DOCUMENT, FOLDER, publishedFigures } from "../publish.ts";
import { chartsOf, fillDocument } from "./performance_document.ts";

const ignore = needs({ read: true });

Deno.test({
  name: "the charts and tables of the document are those of its figures",
  ignore,
  fn: async () => {
    const published = await publishedFigures();
    const document = await Deno.readTextFile(DOCUMENT);
    const again = "draw them anew with: deno task performance";
    assertEquals(fillDocument(document, published), document, again);
    const charts = chartsOf(published);
    for (const [name, text] of charts) {
      assertEquals(await Deno.readTextFile(new URL(name, FOLDER)), text, again);
      assert(document.includes(`](performance/${name})`), `the document does not show ${name}`);
    }
    for await (const { name } of Deno.readDir(FOLDER)) {
      assert(charts.has(name) || name === "figures.json", `nothing draws ${name}`);
    }
  },
});

Deno.test({
  name: "every file that the document names is there",
  ignore,
  fn: async () => {
    const document = await Deno.readTextFile(DOCUMENT);
    const named = [
      ...[...document.matchAll(/\]\(([^)#]+)\)/g)].map(([, path]) => new URL(path ?? "", DOCUMENT)),
      ...[...document.matchAll(/`((?:tests|ledger|docs|actors)\/[^`]+)`/g)]
        .map(([, path]) => new URL(`../${path}`, DOCUMENT)),
    ];
    assert(named.length > 0);
    for (const url of named) await Deno.stat(url);
  },
});
