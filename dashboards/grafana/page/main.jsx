// SPDX-License-Identifier: Apache-2.0
// Draws a dashboard with Grafana's components. The program that opens the page gives it `window.query`, which
// answers a panel's query as Grafana's server does, and calls `window.draw`.
import "uplot/dist/uPlot.min.css";
import { createTheme, dateTime, ThemeContext } from "@grafana/data";
import { GlobalStyles, PanelChrome, Text } from "@grafana/ui";
import { createRoot } from "react-dom/client";
import { dataOf } from "./data.js";
import { componentOf, hasData } from "./panels.jsx";

// Grafana's grid: 24 columns, rows of 30 px, 8 px between them; one column on narrow screens.
const COLUMNS = 24;
const ROW = 30;
const GAP = 8;
const NARROW = 769;

const root = createRoot(document.getElementById("board"));

/**
 * Draw the dashboard over `from` to `to` (ms) in `mode` (light, dark), with the variables' values (lists by name).
 * Returns, once it is drawn, each panel's number and title, its lacking transformations and whether it has data.
 */
window.draw = async ({ board, from, to, mode, variables }) => {
  const theme = createTheme({ colors: { mode } });
  const range = { from: dateTime(from).utc(), to: dateTime(to).utc() };
  const context = { theme, variables, range: { ...range, raw: range } };
  const panels = board.panels.flatMap((one) => [one, ...(one.type === "row" ? one.panels ?? [] : [])]);
  const drawn = await Promise.all(panels.map(async (panel) => {
    const size = sizeOf(panel);
    return panel.type === "row" ? { panel, size } : { panel, size, ...await dataOf(panel, size.width, context) };
  }));
  root.render(<Board key={`${board.uid} ${mode}`} board={board} drawn={drawn} context={context} />);
  await document.fonts.ready;
  // Twice: uPlot draws in a task after the frame in which React has mounted it.
  for (let frame = 0; frame < 2; frame += 1) await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return drawn.filter(({ panel }) => panel.type !== "row").map(({ panel, frames, lacking }) => (
    { id: panel.id, title: panel.title, lacking, hasData: hasData(frames) }));
};

const isNarrow = () => innerWidth < NARROW;
const boardWidth = () => document.documentElement.clientWidth - 2 * GAP;

function sizeOf({ gridPos: { w, h } }) {
  const columns = isNarrow() ? COLUMNS : w;
  const width = (boardWidth() + GAP) / COLUMNS * columns - GAP;
  return { width, height: h * (ROW + GAP) - GAP };
}

function Board({ board, drawn, context }) {
  const grid = {
    display: "grid", gap: GAP, padding: GAP, gridAutoRows: ROW,
    gridTemplateColumns: isNarrow() ? "1fr" : `repeat(${COLUMNS}, minmax(0, 1fr))`,
  };
  return (
    <ThemeContext.Provider value={context.theme}>
      <GlobalStyles />
      <div style={{ background: context.theme.colors.background.canvas, minHeight: "100vh" }}>
        <div style={grid}>
          {drawn.map((one) => <Cell key={one.panel.id} {...one} context={context} />)}
        </div>
      </div>
    </ThemeContext.Provider>
  );
}

function Cell({ panel, size, frames, lacking, context }) {
  const { x, y, w, h } = panel.gridPos;
  const area = isNarrow() ? `span ${h}` : `${y + 1} / ${x + 1} / span ${h} / span ${w}`;
  if (panel.type === "row") {
    return <div style={{ gridArea: area, alignSelf: "center" }}><Text element="h2" variant="h6">{panel.title}</Text></div>;
  }
  const Drawn = componentOf(panel);
  return (
    <div style={{ gridArea: area }} data-panel={panel.id}>
      <PanelChrome title={panel.title} description={panel.description} width={size.width} height={size.height}>
        {(width, height) => (
          <Drawn panel={panel} frames={frames} lacking={lacking} width={width} height={height} context={context} />
        )}
      </PanelChrome>
    </div>
  );
}
