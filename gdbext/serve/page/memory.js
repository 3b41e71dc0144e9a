// Bytes of tensors in use over time: by the runtime's flight recorder, and at each stop.
import { post } from "/api.js";
import { drawChart, lower } from "/chart.js";
import { bytes, element, find } from "/dom.js";
import { gestures, moved, zoomed } from "/gestures.js";

const MOST = 200000; // points that are kept, the oldest go
const LISTED = 500; // stops
let points, stops, gaps, seen; // see forget()
let line; // what is drawn of them: {at, active, number, what, seconds}; null: it is to be made again
let sight, cursor; // what is seen of it, a part of [0, 1]; the number of a point, or null
let byTime = false, frame = 0, parts = null; // parts: elements

export function forget() {
  points = []; // {number, time, active, what}: of events, in order; times never go back, undefined before the first
  stops = []; // {number, active, peak, where}: number of the last event before it
  gaps = []; // numbers of events behind which others were lost
  seen = 0; // the newest event there is
  line = null;
  sight = [0, 1];
  cursor = null;
}
forget();

// ---- what there is ----

// Events since the last look; the recorder is a ring, so some may be lost. Each thread reads the clock now and then.
async function takeEvents() {
  const { recorded, capacity } = await post("/command", { command: "tensor events --last 1 --json" });
  if (recorded < seen) forget(); // another run
  if (recorded === seen) return;
  const told = await post("/command", { command: `tensor events *alloc --last ${Math.min(capacity, recorded - seen)} --json` });
  if (points.length && recorded - seen > capacity) gaps.push(points.at(-1).number);
  let time = points.at(-1)?.time;
  for (const e of told.events) {
    if (e.number <= seen || !Number.isFinite(e.active)) continue;
    if (e.time_ns) time = Math.max(time ?? 0, e.time_ns / 1e9);
    points.push({ number: e.number, time, active: e.active, what: `${e.event} ${bytes(e.nbytes ?? 0)}${e.id ? ` #${e.id}` : ""}` });
  }
  if (points.length > MOST) points.splice(0, points.length - MOST);
  seen = recorded;
}

// The program has stopped there.
export async function take(where) {
  await takeEvents().catch(() => {}); // a runtime without a recorder
  const told = await post("/command", { command: "tensor memory --json" }).catch(() => null);
  if (told) stops.push({ number: seen, active: told.active ?? told.bytes ?? 0, peak: told.peak ?? null, where });
  line = null;
  if (!find("tab-memory").hidden) show();
}

const hasEvents = () => points.length > 1;

function lineOf() {
  return (line ??= makeLine());
}

function makeLine() {
  if (!hasEvents()) return stops.map((s, i) => ({ at: i, active: s.active, number: s.number, what: s.where }));
  const begin = points.find((p) => p.time !== undefined)?.time ?? 0;
  return points.map(({ number, time, active, what }) => {
    const seconds = time === undefined ? 0 : time - begin;
    return { at: byTime ? seconds : number, active, number, what, seconds };
  });
}

// ---- drawing ----

function draw() {
  frame = 0;
  const list = lineOf();
  if (!list.length) return;
  const from = list[0].at, all = list.at(-1).at - from;
  const placeOf = (number) => list[Math.min(list.length - 1, lower(list, number, "number"))].at;
  drawChart(parts.canvas, { list, range: sight.map((part) => from + part * all), cursor,
    peak: Math.max(0, ...stops.slice(-LISTED).map((s) => s.peak ?? s.active)),
    stops: hasEvents() ? stops.slice(-LISTED).map((s) => placeOf(s.number)) : [],
    gaps: gaps.map((number) => [placeOf(number), placeOf(number + 1)]) });
}

function later() {
  frame ||= requestAnimationFrame(draw);
}

function tellCursor() {
  const point = lineOf()[cursor];
  if (!point) return;
  const when = point.seconds === undefined ? "" : `, ${point.seconds.toFixed(6)} s, event ${point.number}`;
  parts.told.textContent = `${bytes(point.active)} in use after ${point.what}${when}`;
  later();
}

const toGestures = {
  isWhole: () => sight[1] - sight[0] > 0.999,
  zoom(factor, x) {
    sight = zoomed(sight, factor, x, 8 / Math.max(8, lineOf().length));
    later();
  },
  move(dx) {
    sight = moved(sight, dx);
    later();
  },
  all() {
    sight = [0, 1];
    later();
  },
  point(x) {
    const list = lineOf();
    if (!list.length) return;
    const from = list[0].at, all = list.at(-1).at - from;
    cursor = Math.min(list.length - 1, lower(list, from + (sight[0] + x * (sight[1] - sight[0])) * all));
    tellCursor();
  },
  cursor() {
    const list = lineOf(), point = list[cursor];
    if (!point) return [0.5, 0.5];
    const part = (point.at - list[0].at) / (list.at(-1).at - list[0].at || 1);
    return [Math.max(0, Math.min(1, (part - sight[0]) / (sight[1] - sight[0]))), 0.5];
  },
  step(dx) {
    if (cursor === null) this.point(0.5);
    else cursor = Math.max(0, Math.min(lineOf().length - 1, cursor + dx));
    tellCursor();
  },
};

function prepare() {
  const canvas = element("canvas", { className: "chart", tabIndex: 0, role: "img" });
  const told = element("output", { className: "code told", textContent: " " }), about = element("p", { className: "note" });
  const order = element("select", { "aria-label": "Along" }, element("option", { value: "number", textContent: "event by event" }),
    element("option", { value: "time", textContent: "by time" }));
  const table = element("details", {}, element("summary", { textContent: "At each stop" }), element("ol", { className: "code" }));
  order.addEventListener("change", () => {
    byTime = order.value === "time";
    line = null;
    later();
  });
  parts = { canvas, told, about, order, table };
  gestures(canvas, toGestures);
  find("memory").replaceChildren(element("div", { className: "bar" }, about, order), canvas, told, table);
  new ResizeObserver(later).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", later);
}

function summary() {
  const last = stops.at(-1);
  if (!last) return "Nothing is known yet: the program has not stopped.";
  const from = hasEvents() ? `${points.length} allocations and releases${gaps.length ? ", some between were lost" : ""}`
    : `at ${stops.length} stop${stops.length === 1 ? "" : "s"}`;
  return `${bytes(last.active)} in use now${last.peak ? `, ${bytes(last.peak)} at most` : ""}; ${from}.`;
}

export function show() {
  if (!parts) prepare();
  parts.order.hidden = !hasEvents();
  parts.about.textContent = summary();
  parts.canvas.setAttribute("aria-label", `memory over time: ${parts.about.textContent} Keys: arrows, plus, minus, 0`);
  const rowOf = ({ active, peak, where }) => [bytes(active), peak && `peak ${bytes(peak)}`, where].filter(Boolean).join(", ");
  parts.table.lastChild.replaceChildren(...stops.slice(-LISTED).map((stop) => element("li", { textContent: rowOf(stop) })));
  later();
}
