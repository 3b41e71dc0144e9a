// A tensor's card: what it is, a picture to zoom into, statistics, values by slices, the graph behind it.
import { get, picture, post } from "/api.js";
import { drawn, element, find, bytes, number, shape } from "/dom.js";
import { graph } from "/graph.js";

let shown = null; // the tensor
let view = null; // {index: […], rows: [a, b], columns: [c, d]} of the last two axes
let turn = 0; // answers to an older question are dropped

const path = (t) => `/tensors/${t.id}`;

function sliceText() {
  const lead = view.index.map(String);
  const ranges = [view.rows, view.columns].filter(Boolean).map(([a, b]) => `${a}:${b}`);
  return [...lead, ...ranges].join(",");
}

function wholeView(t) {
  const n = t.shape.length;
  return { index: t.shape.slice(0, Math.max(0, n - 2)).map(() => 0), rows: n > 1 ? [0, t.shape[n - 2]] : null,
           columns: n > 0 ? [0, t.shape[n - 1]] : null };
}

function facts(t) {
  const rows = [["dtype", t.dtype], ["shape", shape(t.shape)], ["strides", t.strides ? shape(t.strides) : "not known"],
                ["layout", t.layout], ["state", t.state], ["made by", t.op], ["bytes", bytes(t.nbytes)], ["from", t.provider]];
  return element("dl", { className: "code" },
    ...rows.flatMap(([key, value]) => [element("dt", { textContent: key }), element("dd", { textContent: value })]));
}

function histogram(h) {
  const most = Math.max(1, ...h.counts), width = 260, height = 60, step = width / h.counts.length;
  const bars = h.counts.map((n, i) => drawn("rect", { class: "bar", x: i * step, y: height - (n / most) * height,
                                                      width: Math.max(1, step - 1), height: (n / most) * height }));
  return drawn("svg", { viewBox: `0 0 ${width} ${height + 14}`, role: "img", "aria-label": "histogram" }, ...bars,
    drawn("text", { x: 0, y: height + 12 }, number(h.low)),
    drawn("text", { x: width, y: height + 12, "text-anchor": "end" }, number(h.high)));
}

function statistics(s) {
  const rows = [["mean", s.mean], ["std", s.std], ["min", s.min], ["max", s.max], ["zeros", s.zero.count], ["NaN", s.nan.count],
                ["Inf", s.positive_inf.count + s.negative_inf.count]];
  const list = element("dl", { className: "code" },
    ...rows.flatMap(([key, value]) => [element("dt", { textContent: key }), element("dd", { textContent: number(value) })]));
  return s.histogram ? [list, histogram(s.histogram)] : [list];
}

function valuesText(values, depth = 0) {
  if (!Array.isArray(values)) return number(values);
  if (!values.some(Array.isArray)) return `[${values.map((v) => number(v).padStart(9)).join(" ")}]`;
  return `[${values.map((v) => valuesText(v, depth + 1)).join(`\n${" ".repeat(depth + 1)}`)}]`;
}

// Which element the pointer is over.
function indexAt(event, image) {
  const box = image.getBoundingClientRect();
  const along = (at, size, range) => range[0] + Math.min(range[1] - range[0] - 1,
    Math.max(0, Math.floor((at / size) * (range[1] - range[0]))));
  const column = along(event.clientX - box.left, box.width, view.columns);
  return view.rows ? [...view.index, along(event.clientY - box.top, box.height, view.rows), column] : [column];
}

function zoomAt(event, image) {
  const at = indexAt(event, image), column = at.at(-1), row = at.at(-2);
  const half = (range, centre) => {
    const size = Math.max(4, Math.ceil((range[1] - range[0]) / 4));
    const from = Math.max(range[0], Math.min(range[1] - size, centre - Math.floor(size / 2)));
    return [Math.max(0, from), Math.min(range[1], from + size)];
  };
  view.columns = half(view.columns, column);
  if (view.rows) view.rows = half(view.rows, row);
}

function pictureOf(t, told) {
  const image = element("img", { alt: `heat map of ${t.name ?? `#${t.id}`}, ${sliceText()}` });
  const under = element("p", { className: "code faint", textContent: "Click to zoom, double-click for all." });
  let timer;
  picture(`${path(t)}/image.png`, { slice: sliceText() }).then((address) => {
    image.src = address;
    image.addEventListener("load", () => URL.revokeObjectURL(address), { once: true });
  }).catch((error) => image.replaceWith(element("p", { className: "faint", textContent: error.message })));
  image.addEventListener("pointermove", (event) => {
    const at = indexAt(event, image);
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const value = await get(`${path(t)}/values`, { slice: at.join(",") }).catch((error) => ({ values: error.message }));
      under.textContent = `[${at.join(", ")}] = ${number(value.values)}`;
    }, 40);
  });
  image.addEventListener("click", (event) => { zoomAt(event, image); told(); });
  image.addEventListener("dblclick", () => { view = wholeView(t); told(); });
  return [image, under];
}

function sliders(t, told) {
  return view.index.map((at, axis) => {
    const slider = element("input", { type: "range", min: 0, max: t.shape[axis] - 1, value: at });
    const label = element("label", {}, `axis ${axis}: `, slider, element("output", { textContent: at }));
    slider.addEventListener("input", () => { label.lastChild.textContent = slider.value; });
    slider.addEventListener("change", () => { view.index[axis] = Number(slider.value); told(); });
    return label;
  });
}

async function showValues(t, into) {
  const mine = ++turn;
  const told = await get(`${path(t)}/values`, { slice: t.shape.length ? sliceText() : "", edge: 4 }).catch((error) => ({ error }));
  if (mine !== turn) return;
  into.replaceChildren(element("pre", { className: "code", tabIndex: 0,
                                        textContent: told.error ? told.error.message : valuesText(told.values) }));
  if (told.note) into.append(element("p", { className: "faint", textContent: told.note }));
}

function comparison(t) {
  const other = element("input", { className: "code", placeholder: "another tensor, or FILE:NAME", spellcheck: false });
  const said = element("pre", { className: "code" });
  const form = element("form", {}, element("label", {}, "Compare with ", other));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const told = await post("/command", { command: `tensor diff #${t.id} ${other.value}` }).catch((error) => ({ text: error.message }));
    said.textContent = told.text;
  });
  return [form, said];
}

function draw() {
  const t = shown, values = element("div");
  const sized = t.size > 0;
  find("card").replaceChildren(facts(t), ...(sized && t.shape.length ? [...sliders(t, draw), ...pictureOf(t, draw)] : []), values);
  if (sized) showValues(t, values);
  const statsAt = element("div"), graphAt = element("div");
  find("card").append(statsAt, graphAt, ...comparison(t));
  if (sized)
    get(`${path(t)}/stats`).then((s) => { if (shown === t) statsAt.replaceChildren(...statistics(s)); })
      .catch((error) => statsAt.replaceChildren(element("p", { className: "faint", textContent: error.message })));
  if (t.inputs?.length) graph(t, graphAt);
}

export function show(t) {
  if (!t) {
    shown = null;
    find("card-name").textContent = "No tensor is selected";
    find("card").replaceChildren();
    return;
  }
  if (shown?.id !== t.id) view = wholeView(t);
  shown = t;
  find("card-name").textContent = t.name ?? `#${t.id}`;
  draw();
}
