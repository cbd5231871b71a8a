// SPDX-License-Identifier: Apache-2.0
// The kinds of panels, each drawn by the component of @grafana/ui that Grafana's own panel draws with.
import { FieldType, getDisplayValueAlignmentFactors, getFieldDisplayValues, VizOrientation } from "@grafana/data";
import { BigValue, Table, TimeSeries, VizRepeater } from "@grafana/ui";
import { fieldConfigOf, replacing } from "./data.js";

const NOTE = 44; // px, two lines above the data of a panel that is not exported

/** Return the component that draws this kind of panel; panels that @grafana/ui does not export show their data. */
export function componentOf(panel) {
  return { stat: Stat, table: Listing, timeseries: Lines }[panel.type] ?? NotExported;
}

function Lines({ panel, frames, width, height, context }) {
  const drawable = frames.filter((frame) => frame.length > 0);
  if (!drawable.length) return <Nothing />;
  return (
    <TimeSeries frames={drawable} structureRev={1} timeRange={context.range} timeZone="utc" width={width}
      height={height} legend={panel.options.legend} options={panel.options} />
  );
}

function Stat({ panel, frames, width, height, context }) {
  const { options } = panel;
  const values = () => getFieldDisplayValues({
    data: frames, fieldConfig: fieldConfigOf(panel), reduceOptions: options.reduceOptions,
    replaceVariables: replacing(context.variables), theme: context.theme, timeZone: "utc",
  });
  return (
    <VizRepeater getValues={values} source={frames} width={width} height={height} itemSpacing={3} renderCounter={0}
      orientation={options.orientation ?? VizOrientation.Auto}
      getAlignmentFactors={(shown) => getDisplayValueAlignmentFactors(shown)}
      renderValue={({ value, width: wide, height: high, alignmentFactors, count }) => (
        <BigValue value={value.display} width={wide} height={high} theme={context.theme} count={count}
          alignmentFactors={alignmentFactors} colorMode={options.colorMode} graphMode={options.graphMode}
          justifyMode={options.justifyMode ?? "auto"} textMode={options.textMode} />
      )} />
  );
}

function Listing({ panel, frames, width, height, context }) {
  const frame = frames[panel.options.frameIndex ?? 0];
  if (!frame?.fields.length) return <Nothing />;
  return (
    <Table data={frame} width={width} height={height} noHeader={panel.options.showHeader === false}
      cellHeight={panel.options.cellHeight} timeRange={context.range} fieldConfig={fieldConfigOf(panel)} />
  );
}

function NotExported({ panel, frames, lacking, width, height, context }) {
  const what = lacking.length ? ` (nor @grafana/data ${lacking.join(", ")})` : "";
  return (
    <>
      <p style={{ height: NOTE, margin: 0, color: context.theme.colors.text.secondary }}>
        {`@grafana/ui does not export ${panel.type}${what}. Its data:`}
      </p>
      <Listing panel={{ ...panel, options: {} }} frames={frames} width={width} height={height - NOTE} context={context} />
    </>
  );
}

function Nothing() {
  return <div className="nothing">No data</div>;
}

export const hasData = (frames) => frames.some((frame) => frame.length && frame.fields.some(
  (field) => field.type !== FieldType.time && field.values.some((value) => value !== null)));
