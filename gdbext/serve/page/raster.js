// Values of what is seen of a tensor, as a grid for drawing: what is asked for, how it is coloured.
import { get } from "/api.js";

const WIDTH = 240, HEIGHT = 180; // of a grid, at most
const MOST_READ = 4 << 20; // elements

// Which axes are rows and columns; one may hold the channels of a colour.
export function layoutOf(shape) {
  const n = shape.length, colours = (axis) => shape[axis] === 3 || shape[axis] === 4;
  if (n > 2 && colours(n - 1) && shape[n - 2] > 4 && shape[n - 3] > 4) return { row: n - 3, column: n - 2, channel: n - 1 };
  return { row: n > 1 ? n - 2 : null, column: n - 1, channel: null };
}

// The elements of an axis that a part of it (of [0, 1]) touches.
export function span([from, to], size) {
  const first = Math.min(size - 1, Math.floor(from * size + 1e-9));
  return [first, Math.max(first + 1, Math.min(size, Math.ceil(to * size - 1e-9)))];
}

// Beyond what may be read there are steps: of rows first, which are far apart in memory anyway.
function stepsOf(rows, columns, channels) {
  let row = 1, column = 1;
  if (rows * columns * channels > MOST_READ) row = Math.ceil(rows / HEIGHT);
  if ((rows / row) * columns * channels > MOST_READ) column = Math.ceil(columns / WIDTH);
  return { row, column };
}

function sliceOf(shape, { layout, index }, rows, columns, steps) {
  const stepped = ([from, to], step) => `${from}:${to}${step > 1 ? `:${step}` : ""}`;
  const text = shape.map((_, axis) => axis === layout.row ? stepped(rows, steps.row)
    : axis === layout.column ? stepped(columns, steps.column) : axis === layout.channel ? ":" : index[axis] ?? 0);
  return (layout.row === null ? ["None", ...text] : text).join(",");
}

const numberOf = (value) => (typeof value === "number" ? value : Number(value));

// {of: the index on the other axes, rows, columns: what it covers, width, height, values, marked, steps, averaged}; values row by row, of
// colours lists.
export async function raster(t, view, signal) {
  const { layout } = view, { row, column, channel } = layout;
  const rowsAll = row === null ? 1 : t.shape[row], columnsAll = t.shape[column];
  const rows = span(view.y, rowsAll), columns = span(view.x, columnsAll);
  const channels = channel === null ? 1 : t.shape[channel];
  const steps = stepsOf(rows[1] - rows[0], columns[1] - columns[0], channels);
  if (steps.row > 1) rows[0] -= rows[0] % steps.row;
  if (steps.column > 1) columns[0] -= columns[0] % steps.column;
  const turned = row !== null && row > column;
  const of = String(view.index);
  const most = turned ? { width: HEIGHT, rows: WIDTH } : { width: WIDTH, rows: HEIGHT };
  const told = await get(`/tensors/${t.id}/raster`, {
    slice: sliceOf(t.shape, view, rows, columns, steps), ...most,
    channels: channel === null ? "none" : channel > Math.max(row, column) ? "last" : "first" }, signal);
  const width = turned ? told.height : told.width, height = turned ? told.width : told.height;
  const values = new Array(width * height), marked = new Set();
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++) {
      const one = turned ? told.values[x][y] : told.values[y][x];
      values[y * width + x] = Array.isArray(one) ? one.map(numberOf) : numberOf(one);
    }
  for (const i of told.marked) marked.add(turned ? (i % told.width) * width + Math.floor(i / told.width) : i);
  return { of, rows, columns, width, height, values, marked, steps, channels, low: told.low, high: told.high,
           averaged: width < Math.ceil((columns[1] - columns[0]) / steps.column) || height < Math.ceil((rows[1] - rows[0]) / steps.row) };
}

// Whether a cell of the grid is one element.
export const isExact = (grid) => !grid.averaged && grid.steps.row === 1 && grid.steps.column === 1;

// The cell of the grid that an element lies in, or -1.
export function cellOf(grid, row, column) {
  const y = Math.floor(((row - grid.rows[0]) / (grid.rows[1] - grid.rows[0])) * grid.height);
  const x = Math.floor(((column - grid.columns[0]) / (grid.columns[1] - grid.columns[0])) * grid.width);
  return y >= 0 && x >= 0 && y < grid.height && x < grid.width ? y * grid.width + x : -1;
}

// ---- contrast ----

export function rangeOf(grid, look) {
  if (look.how === "fixed") return [look.low, look.high];
  if (grid.channels > 1) return [grid.low, grid.high];
  grid.sorted ??= Float64Array.from(grid.values.filter(Number.isFinite)).sort();
  const finite = grid.sorted;
  if (!finite.length) return [0, 1];
  const at = (part) => finite[Math.round(part * (finite.length - 1))];
  if (look.how === "middle") return [at(0.01), at(0.99)];
  if (look.how === "zero") {
    const most = Math.max(Math.abs(finite[0]), Math.abs(finite.at(-1)));
    return [-most, most];
  }
  return [finite[0], finite.at(-1)];
}

// Those of the server's pictures: viridis as a polynomial (Matt Zucker's, public domain).
const VIRIDIS = [[0.2777273272234177, 0.005407344544966578, 0.3340998053353061], [0.1050930431085774, 1.404613529898575, 1.384590162594685],
  [-0.3308618287255563, 0.214847559468213, 0.09509516302823659], [-4.634230498983486, -5.799100973351585, -19.33244095627987],
  [6.228269936347081, 14.17993336680509, 56.69055260068105], [4.776384997670288, -13.74514537774601, -65.35303263337234],
  [-5.435455855934631, 4.645852612178535, 26.3124352495832]];

function tableOf(colour) {
  const table = new Uint8ClampedArray(256 * 3);
  for (let i = 0; i < 256; i++) table.set(colour(i / 255), i * 3);
  return table;
}

const TABLES = {
  viridis: tableOf((t) => [0, 1, 2].map((k) => 255 * VIRIDIS.reduceRight((sum, c) => sum * t + c[k], 0))),
  grey: tableOf((t) => [255 * t, 255 * t, 255 * t]),
  // blue, nearly white, red: the middle is nought
  both: tableOf((t) => {
    const side = Math.abs(2 * t - 1), end = t < 0.5 ? [33, 102, 172] : [178, 24, 43];
    return end.map((c) => 247 + (c - 247) * side);
  }),
};

export const colours = Object.keys(TABLES);

// ---- what is looked for ----

// "> 0.5", "<= -1", "= 0", "abs > 3", "nan": a test of a value; null: all. Throws where it is none of them.
export function filterOf(text) {
  const words = text.trim().toLowerCase();
  if (!words) return null;
  if (words === "nan" || words === "inf") return (value) => !Number.isFinite(value);
  const match = /^(abs)?\s*(>=|<=|>|<|!=|==?)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)$/.exec(words);
  if (!match) throw new Error("expected > 0.5, <= -1, = 0, abs > 3 or nan");
  const [, abs, how, limit] = match, to = Number(limit);
  const test = { ">": (v) => v > to, ">=": (v) => v >= to, "<": (v) => v < to, "<=": (v) => v <= to, "!=": (v) => v !== to };
  return (value) => (test[how] ?? ((v) => v === to))(abs ? Math.abs(value) : value);
}

// The grid as pixels: NaN and Inf are magenta, what the filter leaves out is faint.
export function paint(grid, [low, high], table, passes) {
  const image = new ImageData(grid.width, grid.height), colour = TABLES[table] ?? TABLES.viridis;
  const part = (value) => Math.max(0, Math.min(1, high > low ? (value - low) / (high - low) : 0.5));
  grid.values.forEach((value, i) => {
    const at = i * 4;
    if (Array.isArray(value)) value.forEach((v, k) => { image.data[at + k] = 255 * part(v); });
    else image.data.set(colour.subarray(Math.round(255 * part(value)) * 3, Math.round(255 * part(value)) * 3 + 3), at);
    if (!(Array.isArray(value) && value.length === 4)) image.data[at + 3] = 255;
    if (grid.marked.has(i)) image.data.set([255, 0, 255, 255], at);
    if (passes && !Array.isArray(value) && !passes(grid.marked.has(i) ? NaN : value)) image.data[at + 3] = 40;
  });
  return image;
}
