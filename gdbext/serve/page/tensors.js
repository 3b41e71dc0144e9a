// The list of tensors: searchable, sortable, and only what is in sight is in the document.
import { get } from "/api.js";
import { element, find, bytes, shape } from "/dom.js";

const HEIGHT = 26; // of a row, in pixels
let all = [];
let chosen = [];
let selected = null;
let whenSelected = () => {};

const textOf = (t) => `${t.name ?? ""} #${t.id} ${t.op} ${t.dtype} ${shape(t.shape)} ${t.state}`.toLowerCase();

function rowOf(t, i) {
  const row = element("button", { type: "button", className: "tensor", role: "option", tabIndex: -1 },
    element("span", { className: "name", textContent: t.name ?? `#${t.id} ${t.op}` }),
    element("span", { className: "faint", textContent: `${t.dtype} ${shape(t.shape)}` }),
    element("span", { className: `state-${t.state}`, textContent: t.state === "lazy" ? "lazy" : bytes(t.nbytes) }));
  row.style.top = `${i * HEIGHT}px`;
  row.setAttribute("aria-selected", t.id === selected);
  row.addEventListener("click", () => select(t.id));
  return row;
}

function draw() {
  const list = find("tensors");
  const first = Math.max(0, Math.floor(list.scrollTop / HEIGHT) - 5);
  const last = Math.min(chosen.length, first + Math.ceil(list.clientHeight / HEIGHT) + 10);
  find("rows").replaceChildren(...chosen.slice(first, last).map((t, i) => rowOf(t, first + i)));
}

function choose() {
  const words = find("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const key = find("sort").value;
  chosen = words.length ? all.filter((t) => words.every((w) => t.text.includes(w))) : all.slice();
  const order = { id: (a, b) => a.id - b.id, nbytes: (a, b) => b.nbytes - a.nbytes,
                  name: (a, b) => !a.name - !b.name || (a.name ?? "").localeCompare(b.name ?? ""),
                  state: (a, b) => a.state.localeCompare(b.state) };
  chosen.sort(order[key]);
  find("rows").style.height = `${chosen.length * HEIGHT}px`;
  find("total").textContent = words.length ? `${chosen.length} of ${all.length}` : `${all.length}`;
  draw();
}

export function select(id) {
  selected = id;
  draw();
  whenSelected(all.find((t) => t.id === id) ?? null);
}

function move(by) {
  const at = chosen.findIndex((t) => t.id === selected);
  const next = chosen[Math.min(chosen.length - 1, Math.max(0, at + by))];
  if (!next) return;
  const list = find("tensors"), top = chosen.indexOf(next) * HEIGHT;
  if (top < list.scrollTop) list.scrollTop = top;
  if (top + HEIGHT > list.scrollTop + list.clientHeight) list.scrollTop = top + HEIGHT - list.clientHeight;
  select(next.id);
}

export function prepare(told) {
  whenSelected = told;
  find("tensors").addEventListener("scroll", draw, { passive: true });
  find("search").addEventListener("input", choose);
  find("sort").addEventListener("change", choose);
  find("tensors").addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[event.key];
    if (!by) return;
    event.preventDefault();
    move(by);
  });
  new ResizeObserver(draw).observe(find("tensors"));
}

export async function refresh() {
  const told = await get("/tensors", { limit: 0 }).catch(() => ({ tensors: [] }));
  all = told.tensors;
  for (const t of all) t.text = textOf(t);
  choose();
  whenSelected(all.find((t) => t.id === selected) ?? null);
}
