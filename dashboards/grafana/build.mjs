// SPDX-License-Identifier: Apache-2.0
// Bundles the page that draws dashboards, with the fonts and icons that Grafana's components ask for.
// Usage: node build.mjs FOLDER
import { cpSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const packages = join(here, "node_modules");
const output = process.argv[2];
// The names by which the style sheet of @grafana/ui asks for them.
const FONTS = {
  "inter-ui/web/Inter-Regular.woff2": "inter/Inter-Regular.woff2",
  "inter-ui/web/Inter-Medium.woff2": "inter/Inter-Medium.woff2",
  "@fontsource/roboto-mono/files/roboto-mono-latin-400-normal.woff2":
    "roboto/L0xTDF4xlVMF-BfR8bXMIhJHg45mwgGEFl0_3vrtSM1J-gEPT5Ese6hmHSh0mQ.woff2",
};

mkdirSync(output, { recursive: true });
await build({
  entryPoints: [join(here, "page", "main.jsx")],
  outfile: join(output, "main.js"),
  bundle: true,
  minify: true,
  format: "iife",
  jsx: "automatic",
  // Their ES modules import CommonJS packages by default exports, which esbuild reads as Node does: not at all.
  alias: Object.fromEntries(["data", "schema", "ui"].map((name) => (
    [`@grafana/${name}`, join(packages, "@grafana", name, "dist/cjs/index.cjs")]))),
  define: { "process.env.NODE_ENV": '"production"', global: "window" },
  loader: { ".svg": "dataurl", ".ttf": "empty" }, // .ttf: icons of the code editor, which no panel shows
  logLevel: "warning",
});
for (const [from, to] of Object.entries(FONTS)) cpSync(join(packages, from), join(output, "fonts", to));
cpSync(join(packages, "@grafana/ui/dist/public/img"), join(output, "img"), { recursive: true });
cpSync(join(here, "page", "index.html"), join(output, "index.html"));
