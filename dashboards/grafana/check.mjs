// SPDX-License-Identifier: Apache-2.0
// Type-checks dashboards as object literals of Grafana's types: a missing, wrong or unknown field is a
// compiler error. Usage: node check.mjs FILE.json…
//
// The types of a panel's options and of its fields' custom settings depend on the kind of the panel, and Panel
// leaves them open: they are checked separately. Plain<T> accepts JSON strings for members of T's enumerations.
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const here = dirname(fileURLToPath(import.meta.url));
const raw = "./node_modules/@grafana/schema/dist/esm/raw";
const KINDS = {
  barchart: "barchart/panelcfg/x/BarChartPanelCfg_types.gen",
  heatmap: "heatmap/panelcfg/x/HeatmapPanelCfg_types.gen",
  stat: "stat/panelcfg/x/StatPanelCfg_types.gen",
  "state-timeline": "statetimeline/panelcfg/x/StateTimelinePanelCfg_types.gen",
  table: "table/panelcfg/x/TablePanelCfg_types.gen",
  timeseries: "timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen",
  xychart: "xychart/panelcfg/x/XYChartPanelCfg_types.gen",
};
// Kinds for which the package has no type of the custom settings.
const WITHOUT_CUSTOM = new Set(["stat"]);

function* panels(dashboard) {
  for (const panel of dashboard.panels) {
    if (panel.type === "row") yield* panel.panels ?? [];
    else yield panel;
  }
}

function source(dashboard) {
  const lines = [
    `import type { Dashboard, Panel } from "${raw}/dashboard/x/dashboard_types.gen";`,
    "type Plain<T> = unknown extends T ? T : T extends string ? `${T}` | T : T extends number ? number",
    "  : T extends boolean | null | undefined ? T : T extends (infer U)[] ? Plain<U>[]",
    "  : { [K in keyof T]: Plain<T[K]> };",
    `export const dashboard: Plain<Dashboard> = ${JSON.stringify(dashboard, null, 1)};`,
  ];
  const kinds = [...new Set([...panels(dashboard)].map((panel) => panel.type))];
  for (const [number, kind] of kinds.entries()) {
    if (!KINDS[kind]) throw new Error(`${kind}: unknown kind of panel. Add it to KINDS`);
    lines.push(`import type * as kind${number} from "${raw}/composable/${KINDS[kind]}";`);
  }
  let count = 0;
  for (const panel of panels(dashboard)) {
    const kind = `kind${kinds.indexOf(panel.type)}`;
    const { panels: _, ...alone } = panel;
    lines.push(`export const panel${count}: Plain<Panel> = ${JSON.stringify(alone, null, 1)};`);
    lines.push(`export const options${count}: Plain<${kind}.Options> = ${JSON.stringify(panel.options ?? {}, null, 1)};`);
    const custom = panel.fieldConfig?.defaults?.custom;
    if (custom && !WITHOUT_CUSTOM.has(panel.type)) {
      lines.push(`export const custom${count}: Plain<${kind}.FieldConfig> = ${JSON.stringify(custom, null, 1)};`);
    }
    count += 1;
  }
  return lines.join("\n");
}

const sources = new Map();
for (const file of process.argv.slice(2)) {
  const name = join(here, `${basename(file, ".json")}.generated.ts`);
  sources.set(name, source(JSON.parse(readFileSync(file, "utf8"))));
}
const options = {
  strict: true, noEmit: true, skipLibCheck: true, types: [],
  module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler, target: ts.ScriptTarget.ES2022,
};
const host = ts.createCompilerHost(options);
const { getSourceFile, fileExists, readFile } = host;
host.fileExists = (name) => sources.has(name) || fileExists(name);
host.readFile = (name) => sources.get(name) ?? readFile(name);
host.getSourceFile = (name, version) => sources.has(name)
  ? ts.createSourceFile(name, sources.get(name), version) : getSourceFile(name, version);

const program = ts.createProgram([...sources.keys()], options, host);
const found = ts.getPreEmitDiagnostics(program);
for (const one of found) {
  const { line } = one.file ? one.file.getLineAndCharacterOfPosition(one.start) : { line: 0 };
  const text = one.file ? one.file.text.split("\n").slice(Math.max(0, line - 1), line + 1).join(" ").trim() : "";
  console.log(`${basename(one.file?.fileName ?? "")}:${line + 1}: ${ts.flattenDiagnosticMessageText(one.messageText, "\n  ")}\n    ${text}`);
}
console.log(`${sources.size} dashboards, ${found.length} errors`);
process.exit(found.length ? 1 : 0);
