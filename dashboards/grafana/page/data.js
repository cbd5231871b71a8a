// SPDX-License-Identifier: Apache-2.0
// From a panel's query to fields that components draw: Grafana's data frames, transformations and field options.
import {
  applyFieldOverrides, FieldConfigOptionsRegistry, getFieldDisplayValuesProxy, identityOverrideProcessor, rangeUtil,
  standardTransformers, standardTransformersRegistry, toDataFrame, transformDataFrame,
} from "@grafana/data";
import { lastValueFrom } from "rxjs";

// Some have a second, deprecated name.
standardTransformersRegistry.setInit(() => [...new Set(Object.values(standardTransformers))].map((transformation) => (
  { id: transformation.id, name: transformation.name, transformation })));

const STANDARD = ["unit", "min", "max", "decimals", "displayName", "noValue", "color", "mappings", "thresholds", "links"];
const COLOURED_BY_SERIES = ["timeseries", "barchart", "xychart", "state-timeline"];

/** Return { frames, lacking }: a panel's data, and the transformations that @grafana/data does not have. */
export async function dataOf(panel, width, { range, variables, theme }) {
  const { intervalMs } = rangeUtil.calculateInterval(range, Math.round(width), panel.interval);
  const asked = panel.targets.map(({ rawSql, format }) => (
    window.query({ sql: rawSql, format, variables, from: +range.from, to: +range.to, intervalMs })));
  const raw = (await Promise.all(asked)).map(toDataFrame);
  const steps = panel.transformations ?? [];
  const lacking = steps.map(({ id }) => id).filter((id) => !standardTransformersRegistry.getIfExists(id));
  const transformed = lacking.length ? raw : await lastValueFrom(transformDataFrame(steps, raw));
  const frames = applyFieldOverrides({
    data: transformed,
    fieldConfig: fieldConfigOf(panel),
    fieldConfigRegistry: registryOf(panel),
    replaceVariables: replacing(variables),
    theme,
    timeZone: "utc",
  });
  return { frames, lacking };
}

/** Return the panel's field options; JSON has no -Infinity, with which the lowest threshold begins. */
export function fieldConfigOf(panel) {
  const { defaults, overrides } = structuredClone(panel.fieldConfig ?? { defaults: {}, overrides: [] });
  for (const step of defaults.thresholds?.steps ?? []) step.value ??= -Infinity;
  return { defaults, overrides };
}

/** Return the options that the panel sets. Grafana's server registers those of each kind of panel. */
function registryOf(panel) {
  const { defaults = {}, overrides = [] } = panel.fieldConfig ?? {};
  const properties = overrides.flatMap((one) => one.properties.map(({ id }) => id));
  const custom = new Set([
    ...Object.keys(defaults.custom ?? {}),
    ...properties.filter((id) => id.startsWith("custom.")).map((id) => id.slice("custom.".length)),
  ]);
  const option = (path, isCustom) => ({
    id: isCustom ? `custom.${path}` : path, path, isCustom, name: path, settings: {},
    process: path === "color" && COLOURED_BY_SERIES.includes(panel.type)
      ? (value) => value ?? { mode: "palette-classic" } : identityOverrideProcessor,
    shouldApply: () => true,
  });
  return new FieldConfigOptionsRegistry(() => [
    ...STANDARD.map((path) => option(path, false)), ...[...custom].map((path) => option(path, true))]);
}

/** Return Grafana's replaceVariables for ${name} and ${__data.fields.name}, also with :percentencode. */
export function replacing(variables) {
  return (text, scoped) => text.replace(/\$\{([\w.]+)(?::(\w+))?\}/g, (whole, path, form) => {
    const [first, second, ...name] = path.split(".");
    const { frame, rowIndex } = scoped?.__dataContext?.value ?? {};
    const value = first === "__data" && second === "fields"
      ? String(getFieldDisplayValuesProxy({ frame, rowIndex })[name.join(".")]) : variables[path]?.join(",");
    if (value === undefined) throw new Error(`${whole}: unknown variable`);
    return form === "percentencode" ? encodeURIComponent(value) : encodeURI(value);
  });
}
