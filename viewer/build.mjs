// Bundles the page into one html file: script and styles inlined, nothing loaded from outside.
import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const target = join(here, "..", "src", "supple", "view", "page", "bundle", "page.html");

const { outputFiles } = await build({
  entryPoints: [join(here, "src", "main.ts")],
  bundle: true,
  minify: true,
  write: false,
  format: "iife",
  target: "es2022",
  legalComments: "inline",
  loader: { ".css": "text" },
});
const script = outputFiles[0].text.replaceAll("</script", "<\\/script").replaceAll("<!--", "<\\!--");
const styles = await Promise.all(
  [join(here, "node_modules", "uplot", "dist", "uPlot.min.css"), join(here, "src", "page.css")].map((path) => readFile(path, "utf8")),
);
const frame = await readFile(join(here, "src", "page.html"), "utf8");
const hash = createHash("sha256").update(script, "utf8").digest("base64"); // the policy admits this script and no other
const page = frame
  .replace("@SCRIPT-HASH@", `'sha256-${hash}'`)
  .replace("/* styles */", () => styles.join("\n"))
  .replace("/* script */", () => script);
await mkdir(dirname(target), { recursive: true });
await writeFile(target, page);
console.log(`${target}: ${(page.length / 1024).toFixed(0)} kB`);
