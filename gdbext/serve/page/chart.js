// A line of bytes over an order or a time: as much of it as there are columns of pixels.
import { bytes } from "/dom.js";

// The first place in a sorted list where `key` is not below.
export function lower(list, at, key = "at") {
  let from = 0, to = list.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (list[middle][key] < at) from = middle + 1;
    else to = middle;
  }
  return from;
}

// For each column of pixels the first, lowest, highest and last value, or null: of however many points, what can be seen of them.
export function columnsOf(list, [from, to], width) {
  const columns = new Array(width).fill(null);
  for (let i = lower(list, from); i < list.length && list[i].at <= to; i++) {
    const x = Math.max(0, Math.min(width - 1, Math.floor(((list[i].at - from) / (to - from || 1)) * width))), { active } = list[i];
    const c = columns[x];
    if (c) {
      c.low = Math.min(c.low, active);
      c.high = Math.max(c.high, active);
      c.last = active;
    } else {
      columns[x] = { low: active, high: active, first: active, last: active };
    }
  }
  return columns;
}

// From nought, unless little changes then; with the peak, unless it is far above.
function scaleOf(columns, began, peak) {
  const seen = columns.filter(Boolean);
  const high = seen.reduce((most, c) => Math.max(most, c.high), began), low = seen.reduce((least, c) => Math.min(least, c.low), began);
  const top = Math.max(peak <= 1.5 * high ? peak : high, 1);
  return low > 0.8 * top && high > low ? [low - 0.1 * (top - low), top + 0.1 * (top - low)] : [0, 1.05 * top];
}

// What a colour of the style is now: a canvas knows no light-dark().
function colourOf(canvas, name) {
  canvas.style.color = `var(${name})`;
  return getComputedStyle(canvas).color;
}

// `list`: points {at, active} in order, one at least; `range` of what is seen; `stops`: places to be marked below; `gaps`: pairs of places
// between which something is missing; `cursor`: the number of a point, or null.
export function drawChart(canvas, { list, range, peak, stops, gaps, cursor }) {
  const box = canvas.getBoundingClientRect(), scale = devicePixelRatio, context = canvas.getContext("2d");
  const width = canvas.width = Math.max(1, Math.round(box.width * scale)), height = canvas.height = Math.max(1, Math.round(box.height * scale));
  const columns = columnsOf(list, range, width), began = list[Math.max(0, lower(list, range[0]) - 1)].active;
  const [bottom, top] = scaleOf(columns, began, peak);
  const y = (value) => height - 3 - ((value - bottom) / (top - bottom)) * (height - 6);
  const x = (at) => (range[1] > range[0] ? ((at - range[0]) / (range[1] - range[0])) * width : 0);
  const paint = (name) => { context.strokeStyle = context.fillStyle = colourOf(canvas, name); };

  // a line across, told at the left, or at the right, above what is drawn
  const texts = [];
  const across = (value, text, isPeak) => {
    paint(isPeak ? "--bad" : "--text");
    context.setLineDash(isPeak ? [6 * scale, 4 * scale] : []);
    context.lineWidth = scale * (isPeak ? 1 : 0.5);
    context.beginPath();
    context.moveTo(0, y(value));
    context.lineTo(width, y(value));
    context.stroke();
    context.setLineDash([]);
    texts.push([text, isPeak, y(value) + (y(value) < 16 * scale ? 12 * scale : -3 * scale)]);
  };
  const write = ([text, isPeak, at]) => {
    context.textAlign = isPeak ? "left" : "right";
    context.lineWidth = 4 * scale;
    context.strokeStyle = colourOf(canvas, "--back");
    context.fillStyle = colourOf(canvas, isPeak ? "--bad" : "--text");
    const place = isPeak ? 4 * scale : width - 4 * scale;
    context.strokeText(text, place, at);
    context.fillText(text, place, at);
  };

  paint("--here");
  for (const [from, to] of gaps) context.fillRect(x(from), 0, Math.max(2 * scale, x(to) - x(from)), height);
  context.font = `${11 * scale}px ui-monospace, monospace`;
  for (const part of height < 90 * scale ? [0.5] : [0.25, 0.5, 0.75]) {
    const value = Math.round(bottom + part * (top - bottom));
    across(value, bottom > 0 ? `${bytes(Math.round(bottom))} + ${bytes(value - Math.round(bottom))}` : bytes(value), false);
  }
  if (peak && peak <= top) across(peak, `peak ${bytes(peak)}`, true);
  paint("--faint");
  for (const at of stops) context.fillRect(x(at), height - 8 * scale, scale, 8 * scale);

  paint("--accent");
  context.lineWidth = 1.5 * scale;
  context.lineJoin = "round";
  context.beginPath();
  context.moveTo(0, y(began));
  let level = began;
  columns.forEach((c, i) => {
    if (!c) return;
    for (const value of [level, c.first, c.low, c.high, c.last]) context.lineTo(i, y(value));
    level = c.last;
  });
  if (list.at(-1).at > range[1]) context.lineTo(width, y(level));
  context.stroke();
  texts.forEach(write);
  paint("--accent");
  if (list.length === 1) context.fillRect(0, y(began) - 2 * scale, 6 * scale, 4 * scale);
  if (cursor === null || !list[cursor]) return;
  paint("--text");
  context.lineWidth = scale;
  context.strokeRect(x(list[cursor].at) - 4 * scale, y(list[cursor].active) - 4 * scale, 8 * scale, 8 * scale);
}
