// A tensor's card: what it is, heat maps to look into, statistics, values, the graph behind it, a comparison.
import { get, post } from "/api.js";
import { drawn, element, find, bytes, number, shape } from "/dom.js";
import { graph } from "/graph.js";
import { heatMaps, wholeView } from "/heats.js";

const MOST_SUMMED = 1 << 26; // elements whose statistics are told without being asked for
let shown = null; // the tensor
let view = null; // what is seen of it
let compared = ""; // with what
let turn = 0; // answers to an older question are dropped

const path = (t) => `/tensors/${t.id}`;

function facts(t) {
  const rows = [["dtype", t.dtype], ["shape", shape(t.shape)], ["strides", t.strides ? shape(t.strides) : "not known"],
                ["layout", t.layout], ["state", t.state], ["made by", t.op], ["bytes", bytes(t.nbytes)], ["from", t.provider]];
  return list(rows);
}

const list = (rows) => element("dl", { className: "code" },
  ...rows.map(([key, value]) => element("div", {}, element("dt", { textContent: key }), element("dd", { textContent: value }))));

function histogram(h) {
  const most = Math.max(1, ...h.counts), width = 260, height = 60, step = width / h.counts.length;
  const bars = h.counts.map((n, i) => drawn("rect", { class: "bar", x: i * step, y: height - (n / most) * height,
                                                      width: Math.max(1, step - 1), height: (n / most) * height }));
  return drawn("svg", { viewBox: `0 0 ${width} ${height + 14}`, class: "histogram", role: "img",
                        "aria-label": `histogram from ${number(h.low)} to ${number(h.high)}` }, ...bars,
    drawn("text", { x: 0, y: height + 12 }, number(h.low)),
    drawn("text", { x: width, y: height + 12, "text-anchor": "end" }, number(h.high)));
}

function statistics(s) {
  const rows = [["mean", s.mean], ["std", s.std], ["min", s.min], ["max", s.max], ["zeros", s.zero.count], ["NaN", s.nan.count],
                ["Inf", s.positive_inf.count + s.negative_inf.count]];
  const told = list(rows.map(([key, value]) => [key, number(value)]));
  return s.histogram ? [told, histogram(s.histogram)] : [told];
}

function valuesText(values, depth = 0) {
  if (!Array.isArray(values)) return number(values);
  if (!values.some(Array.isArray)) return `[${values.map((v) => number(v).padStart(10)).join(" ")}]`;
  return `[${values.map((v) => valuesText(v, depth + 1)).join(`\n${" ".repeat(depth + 1)}`)}]`;
}

async function showValues(t, into) {
  const mine = ++turn;
  const told = await get(`${path(t)}/values`, { edge: 4 }).catch((error) => ({ error }));
  if (mine !== turn) return;
  into.replaceChildren(element("pre", { className: "code", tabIndex: 0,
                                        textContent: told.error ? told.error.message : valuesText(told.values) }));
  if (told.note) into.append(element("p", { className: "faint", textContent: told.note }));
}

async function showStatistics(t, into) {
  into.replaceChildren(element("p", { className: "faint", textContent: "Looking …" }));
  const told = await get(`${path(t)}/stats`).then(statistics)
    .catch((error) => [element("p", { className: "faint", textContent: error.message })]);
  if (shown === t) into.replaceChildren(...told);
}

// Of a large tensor they are asked for by a button.
function statisticsOf(t) {
  const into = element("div", { className: "statistics" });
  if (t.size <= MOST_SUMMED) {
    showStatistics(t, into);
    return into;
  }
  const button = element("button", { type: "button", textContent: `Statistics of all ${t.size} elements` });
  button.addEventListener("click", () => showStatistics(t, into));
  into.append(button);
  return into;
}

// Another tensor beside this one.
async function drawOther(t, maps) {
  const other = await get(`/tensors/${encodeURIComponent(compared.replace(/^#/, ""))}`).catch(() => null);
  if (shown === t) drawMaps(t, maps, other);
}

async function explain(t, said) {
  said.textContent = "Looking …";
  said.textContent = (await post("/command", { command: `tensor diff #${t.id} ${compared}` }).catch((error) => ({ text: error.message }))).text;
}

function drawMaps(t, into, other) {
  into.replaceChildren(heatMaps(t, view, other));
  into.firstChild.addEventListener("turned", () => drawMaps(t, into, other));
}

function comparison(t, maps) {
  const other = element("input", { className: "code", placeholder: "another tensor, or FILE:NAME", spellcheck: false, autocomplete: "off",
                                   value: compared });
  const said = element("pre", { className: "code", tabIndex: 0 }), clear = element("button", { type: "button", textContent: "Clear" });
  const form = element("form", { className: "compare" }, element("label", {}, "Compare with ", other),
    element("button", { textContent: "Compare" }), clear);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    compared = other.value.trim();
    if (!compared) return;
    explain(t, said);
    drawOther(t, maps);
  });
  clear.addEventListener("click", () => {
    other.value = compared = said.textContent = "";
    drawMaps(t, maps, null);
  });
  if (compared) drawOther(t, maps); // at a new stop; the text may take long
  return [form, said];
}

function draw() {
  const t = shown, values = element("div"), maps = element("div"), graphAt = element("div");
  find("card").replaceChildren(facts(t), maps);
  if (t.size > 0) {
    find("card").append(...comparison(t, maps), statisticsOf(t), values);
    if (t.shape.length) drawMaps(t, maps, null);
    showValues(t, values);
  }
  find("card").append(graphAt);
  if (t.inputs?.length) graph(t, graphAt);
}

export function show(t) {
  if (!t) {
    shown = null;
    find("card-name").textContent = "No tensor is selected";
    find("card").replaceChildren();
    return;
  }
  if (shown && (t.name ?? t.id) !== (shown.name ?? shown.id)) compared = "";
  if (!view || String(shown?.shape) !== String(t.shape) || (t.name ?? t.id) !== (shown.name ?? shown.id)) view = wholeView(t);
  shown = t;
  find("card-name").textContent = t.name ?? `#${t.id}`;
  draw();
}
