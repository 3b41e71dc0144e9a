// One heat map: the values of what is seen of a tensor on a canvas, and before they come those of all, coarsely.
import { element } from "/dom.js";
import { cellOf, isExact, paint, raster } from "/raster.js";

const WIDE = 44, HIGH = 14; // pixels of a cell that has room for its value

export const rowsOf = (t, { layout }) => (layout.row === null ? 1 : t.shape[layout.row]);
export const columnsOf = (t, { layout }) => t.shape[layout.column];

export class HeatMap {
  constructor(t, title) {
    this.t = t;
    this.title = title;
    this.canvas = element("canvas", { className: "heat", tabIndex: 0, role: "img" });
    this.figure = element("figure", {}, element("figcaption", { className: "code", textContent: title }), this.canvas);
    this.grid = null; // of what is seen
    this.whole = null; // of all, behind it
    this.turn = 0;
  }

  // Asks for what is seen. False: what it had asked for is no longer wanted.
  async load(view) {
    const mine = ++this.turn;
    this.asking?.abort();
    this.asking = new AbortController();
    const grid = await raster(this.t, view, this.asking.signal);
    if (mine !== this.turn) return false;
    this.grid = grid;
    if (view.x[1] - view.x[0] === 1 && view.y[1] - view.y[0] === 1) this.whole = grid;
    return true;
  }

  // Where an element's edges are on the canvas.
  placesIn(view) {
    const { canvas } = this, columns = columnsOf(this.t, view), rows = rowsOf(this.t, view);
    return { x: (column) => ((column / columns - view.x[0]) / (view.x[1] - view.x[0])) * canvas.width,
             y: (row) => ((row / rows - view.y[0]) / (view.y[1] - view.y[0])) * canvas.height };
  }

  put(context, grid, view, range, passes) {
    const image = document.createElement("canvas"), { x, y } = this.placesIn(view), { rows, columns } = grid;
    image.width = grid.width;
    image.height = grid.height;
    image.getContext("2d").putImageData(paint(grid, range, view.look.colours, passes), 0, 0);
    const left = x(columns[0]), top = y(rows[0]), width = x(columns[1]) - left, height = y(rows[1]) - top;
    context.imageSmoothingEnabled = false;
    context.clearRect(left, top, width, height);
    context.drawImage(image, left, top, width, height);
  }

  writeValues(context, view, range) {
    const { grid } = this, { x, y } = this.placesIn(view), scale = devicePixelRatio;
    const wide = x(1) - x(0), high = y(1) - y(0);
    if (grid.channels > 1 || !isExact(grid) || wide < WIDE * scale || high < HIGH * scale) return;
    context.font = `${11 * scale}px ui-monospace, monospace`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    grid.values.forEach((value, i) => {
      const row = grid.rows[0] + Math.floor(i / grid.width), column = grid.columns[0] + (i % grid.width);
      const part = (value - range[0]) / (range[1] - range[0] || 1);
      const isLight = view.look.colours === "both" ? part > 0.2 && part < 0.8 : part > 0.6;
      context.fillStyle = isLight && !grid.marked.has(i) ? "#000" : "#fff";
      const text = grid.marked.has(i) ? "NaN/Inf" : String(Number(value.toPrecision(4)));
      context.fillText(text, x(column + 0.5), y(row + 0.5));
    });
  }

  mark(context, view) {
    const [row, column] = view.cursor, { x, y } = this.placesIn(view), scale = devicePixelRatio;
    const wide = Math.max(6 * scale, x(1) - x(0)), high = Math.max(6 * scale, y(1) - y(0));
    for (const [colour, width] of [["#000", 3], ["#fff", 1]]) {
      context.strokeStyle = colour;
      context.lineWidth = width * scale;
      context.strokeRect(x(column + 0.5) - wide / 2, y(row + 0.5) - high / 2, wide, high);
    }
  }

  draw(view, range, passes) {
    const { canvas } = this, box = canvas.getBoundingClientRect(), context = canvas.getContext("2d");
    canvas.width = Math.max(1, Math.round(box.width * devicePixelRatio));
    canvas.height = Math.max(1, Math.round(box.height * devicePixelRatio));
    if (!this.grid) return;
    if (this.whole && this.whole !== this.grid) this.put(context, this.whole, view, range, passes);
    this.put(context, this.grid, view, range, passes);
    this.writeValues(context, view, range);
    if (view.cursor) this.mark(context, view);
  }

  // The value of an element where it is already here; else undefined.
  known(view, row, column) {
    if (!this.grid || !isExact(this.grid) || this.grid.of !== String(view.index)) return undefined;
    const cell = cellOf(this.grid, row, column);
    return cell < 0 || this.grid.marked.has(cell) ? undefined : this.grid.values[cell];
  }
}

// The grid of what two maps of the same places differ by, or null.
export function difference({ grid: a }, { grid: b }) {
  if (!a || !b || a.width !== b.width || a.height !== b.height || a.channels > 1 || b.channels > 1) return null;
  return { ...a, sorted: undefined, values: a.values.map((value, i) => value - b.values[i]), marked: new Set([...a.marked, ...b.marked]) };
}
