// The list of tensors: searchable, sortable, and only what is in sight is in the document.
import { get } from "/api.js";
import { element, find, bytes, shape } from "/dom.js";

const HEIGHT = 26; // of a row, in pixels
let all = [];
let ids = null, before = null; // numbers of all, and of those at the stop before; null: not known
let stop = 0; // which it was
let news = ""; // since the stop before
let chosen = [];
let selected = null, name = null; // its number and name
let whenSelected = () => {};

const textOf = (t) => `${t.name ?? ""} #${t.id} ${t.op} ${t.dtype} ${shape(t.shape)} ${t.state}${t.isNew ? " new" : ""}`.toLowerCase();

function rowOf(t, i) {
  const row = element("button", { type: "button", className: `tensor${t.isNew ? " new" : ""}`, role: "option", tabIndex: -1 },
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
  const order = { new: (a, b) => b.isNew - a.isNew || b.id - a.id, id: (a, b) => a.id - b.id, nbytes: (a, b) => b.nbytes - a.nbytes,
                  name: (a, b) => !a.name - !b.name || (a.name ?? "").localeCompare(b.name ?? ""),
                  state: (a, b) => a.state.localeCompare(b.state) };
  chosen.sort(order[key]);
  find("rows").style.height = `${chosen.length * HEIGHT}px`;
  find("total").textContent = `${words.length ? `${chosen.length} of ` : ""}${all.length}${news && ` (${news})`}`;
  draw();
}

export function select(id) {
  const found = all.find((t) => t.id === id) ?? null;
  selected = id;
  name = found?.name ?? null;
  history.replaceState(null, "", `#tensor=${id}`);
  draw();
  whenSelected(found);
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

// Those that were not there at the stop before are new.
function compare() {
  const now = new Set(all.map((t) => t.id));
  for (const t of all) t.isNew = before !== null && !before.has(t.id);
  const born = all.filter((t) => t.isNew).length, gone = before ? [...before].filter((id) => !now.has(id)).length : 0;
  news = [born && `${born} new`, gone && `${gone} gone`].filter(Boolean).join(", ");
  ids = now;
}

export function forget() {
  ids = before = null;
}

// `at`: the number of the stop; at the same one again, news stay news.
export async function refresh(at) {
  const told = await get("/tensors", { limit: 0 }).catch(() => null);
  if (at !== stop) before = ids;
  stop = at;
  all = told?.tensors ?? [];
  if (told) compare();
  for (const t of all) t.text = textOf(t);
  // what was selected, or what has its name now: in a loop that is another tensor at each turn
  const same = all.find((t) => t.id === selected) ?? (name ? all.findLast((t) => t.name === name) : null);
  selected = same?.id ?? selected;
  choose();
  whenSelected(same ?? null);
}
