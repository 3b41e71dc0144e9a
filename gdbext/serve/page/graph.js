// The graph behind a tensor, drawn in layers and folded by module; only what is in sight is in the document.
import { post } from "/api.js";
import { bytes, drawn, element, shape } from "/dom.js";
import { boxesOf, edgesOf, layersOf, modulesOf, openedAtFirst, treeOf } from "/fold.js";

const WIDTH = 168, HEIGHT = 42, GAP = 16, BETWEEN = 34, PER_ROW = 8, ROW = HEIGHT + BETWEEN;
const FIRST = 500, MOST = 10000, AT_FIRST = 24; // tensors that are asked for; boxes
const MOST_EDGES = 3000; // that are drawn
const opened = new Map(); // by the tensor's name: which modules are open, from stop to stop

const cut = (text) => (text.length > 23 ? `${text.slice(0, 22)}…` : text);
const nameOf = (t) => t.name ?? `#${t.id}`;

// Where each box is; a layer that is too wide is several rows.
function placesOf(layers) {
  const rows = layers.flatMap((layer) => {
    const n = Math.ceil(layer.length / PER_ROW), each = Math.ceil(layer.length / n);
    return Array.from({ length: n }, (_, i) => layer.slice(i * each, (i + 1) * each));
  });
  const wide = (row) => row.length * (WIDTH + GAP) - GAP, width = Math.max(...rows.map(wide)), places = new Map();
  rows.forEach((row, y) => row.forEach((box, i) => places.set(box.key, {
    box, row: y, i, x: (width - wide(row)) / 2 + i * (WIDTH + GAP), y: y * ROW })));
  return { rows, places, width, height: rows.length * ROW - BETWEEN };
}

class Graph {
  constructor(t, told, more) {
    this.t = t;
    this.told = told;
    const modules = modulesOf(told), key = nameOf(t);
    this.moduleOf = new Map([...modules].map(([id, path]) => [id, path.join(".")]));
    this.tree = treeOf(told, modules);
    if (!opened.has(key)) opened.set(key, openedAtFirst(this.tree, AT_FIRST));
    this.open = opened.get(key);
    this.current = null; // the key of a box
    this.frame = 0;
    this.bar = element("div", { className: "bar chips" });
    this.svg = drawn("svg", { role: "group", "aria-label": "Graph: arrows go from box to box, Enter opens, Backspace closes" });
    this.scroll = element("div", { className: "graph" }, this.svg);
    this.elements = [element("h2", { textContent: `Computed from (${told.tensors.length} tensors)` }), this.bar, this.scroll];
    if (told.cut) this.elements.push(element("p", { className: "faint note" }, "There is more. ", ...more));
    this.scroll.addEventListener("scroll", () => this.later(), { passive: true });
    this.svg.addEventListener("click", (event) => this.onClick(event));
    this.svg.addEventListener("focusin", (event) => { this.current = event.target.dataset.key ?? this.current; });
    this.svg.addEventListener("keydown", (event) => this.onKey(event));
  }

  get root() {
    return this.boxOf.get(this.told.root);
  }

  // ---- what is drawn ----

  // Boxes that one is made of, or is used by.
  inputs(key) {
    return this.edges.filter((e) => e.to === key).map((e) => e.from);
  }

  users(key) {
    return this.edges.filter((e) => e.from === key).map((e) => e.to);
  }

  labelOf({ tensor, group, key }) {
    const what = tensor ? `${nameOf(tensor)}, ${tensor.op}, ${tensor.dtype} ${shape(tensor.shape)}, ${tensor.state}`
      : `${group.name}, ${group.count} tensors, ${bytes(group.bytes)}, folded`;
    return `${what}; made of ${this.inputs(key).length}, used by ${this.users(key).length}`;
  }

  boxElement({ box, x, y }) {
    const { tensor, group, key } = box, label = this.labelOf(box), size = { width: WIDTH, height: HEIGHT, rx: 4 };
    const made = tensor ? drawn("a", { href: `#tensor=${tensor.id}` }) : drawn("g", { role: "button", "aria-expanded": "false" });
    const lines = tensor ? [`${nameOf(tensor)} ${tensor.op}`, `${shape(tensor.shape)} ${tensor.state === "lazy" ? "lazy" : tensor.dtype}`]
      : [`▸ ${group.name}`, `${group.count} tensors, ${bytes(group.bytes)}`];
    made.setAttribute("transform", `translate(${x} ${y})`);
    made.setAttribute("tabindex", key === this.current ? 0 : -1);
    made.setAttribute("aria-label", label);
    made.dataset.key = key;
    if (group) made.append(drawn("rect", { ...size, class: "box group", x: 4, y: -4 }));
    made.append(drawn("rect", { ...size, class: `box ${group ? "group" : tensor.state}${tensor?.id === this.t.id ? " root" : ""}` }),
      drawn("text", { x: 8, y: 17 }, cut(lines[0])), drawn("text", { x: 8, y: 33, class: "faint" }, cut(lines[1])), drawn("title", {}, label));
    return made;
  }

  edgeElement({ from, to, count }) {
    const a = this.places.get(from), b = this.places.get(to), isBelow = a.y > b.y, isNear = from === this.current || to === this.current;
    const x1 = a.x + WIDTH / 2, x2 = b.x + WIDTH / 2, y1 = isBelow ? a.y : a.y + HEIGHT, y2 = isBelow ? b.y + HEIGHT : b.y, bend = (y1 - y2) / 2;
    return drawn("path", { class: `edge${count > 1 ? " many" : ""}${isNear ? " near" : ""}`,
                           d: `M${x1} ${y1} C${x1} ${y1 - bend} ${x2} ${y2 + bend} ${x2} ${y2}` });
  }

  // What is in sight, and a little around it; who has the focus keeps it.
  paint() {
    this.frame = 0;
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.scroll;
    const left = scrollLeft - 200, right = scrollLeft + clientWidth + 200, top = scrollTop - 200, bottom = scrollTop + clientHeight + 200;
    const isSeen = (a, b) => Math.max(a.x, b.x) + WIDTH > left && Math.min(a.x, b.x) < right && Math.max(a.y, b.y) + HEIGHT > top &&
      Math.min(a.y, b.y) < bottom;
    const focused = this.svg.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    const edges = this.edges.filter(({ from, to }) => isSeen(this.places.get(from), this.places.get(to)));
    const rows = this.rows.slice(Math.max(0, Math.floor(top / ROW)), Math.ceil(bottom / ROW) + 1);
    const places = rows.flat().map((box) => this.places.get(box.key)).filter((place) => isSeen(place, place));
    if (focused && this.places.has(focused) && !places.some((place) => place.box.key === focused)) places.push(this.places.get(focused));
    this.svg.replaceChildren(...edges.slice(0, MOST_EDGES).map((edge) => this.edgeElement(edge)), ...places.map((place) => this.boxElement(place)));
    if (focused) this.find(focused)?.focus({ preventScroll: true });
  }

  later() {
    this.frame ||= requestAnimationFrame(() => this.paint());
  }

  find(key) {
    return this.svg.querySelector(`[data-key="${CSS.escape(key)}"]`);
  }

  lay() {
    const { boxes, boxOf, opened: list } = boxesOf(this.tree, this.open), edges = edgesOf(this.told.edges, boxOf);
    Object.assign(this, { boxes, boxOf, edges, openGroups: list }, placesOf(layersOf(boxes, edges, boxOf.get(this.told.root))));
    if (!this.places.has(this.current)) this.current = this.root;
    this.svg.setAttribute("viewBox", `-6 -6 ${this.width + 12} ${this.height + 12}`);
    this.svg.setAttribute("width", this.width + 12);
    this.svg.setAttribute("height", this.height + 12);
    this.showOpen();
    this.paint();
  }

  // What is open, to close it again.
  showOpen() {
    this.bar.replaceChildren(...this.openGroups.slice(0, 40).map((group) => {
      const button = element("button", { type: "button", textContent: `▾ ${group.name}`, title: `Close ${group.name}, ${group.count} tensors` });
      button.setAttribute("aria-expanded", "true");
      button.addEventListener("click", () => this.toggle(group.key, false));
      return button;
    }));
    const isOpening = this.boxes.some((box) => box.group);
    const all = element("button", { type: "button", textContent: isOpening ? "Open all" : "Close all" });
    all.addEventListener("click", () => this.toggleAll(isOpening));
    if (this.tree.parts.size) this.bar.append(all);
  }

  // ---- what a person does ----

  goTo(key, focus = true) {
    const place = this.places.get(key), { scroll } = this;
    if (!place) return;
    this.current = key;
    scroll.scrollLeft = Math.max(Math.min(scroll.scrollLeft, place.x - 8), place.x + WIDTH + 20 - scroll.clientWidth);
    scroll.scrollTop = Math.max(Math.min(scroll.scrollTop, place.y - 8), place.y + HEIGHT + 20 - scroll.clientHeight);
    this.paint();
    if (focus) this.find(key)?.focus({ preventScroll: true });
  }

  toggle(module, focus = true) {
    const isOpen = this.open.delete(module), within = (path) => path === module || path.startsWith(`${module}.`);
    for (const each of [...this.open]) if (isOpen && within(each)) this.open.delete(each);
    if (!isOpen) this.open.add(module);
    this.lay();
    const first = this.rows.flat().find(({ group, tensor }) => within(group?.key ?? this.moduleOf.get(tensor.id)));
    this.goTo(first?.key ?? this.root, focus);
  }

  toggleAll(isOpening) {
    this.open.clear();
    for (let folded = null; isOpening && folded?.length !== 0;) {
      folded = boxesOf(this.tree, this.open).boxes.filter((box) => box.group);
      for (const { key } of folded) this.open.add(key);
    }
    this.lay();
    this.goTo(this.root, false);
  }

  // The nearest box in a direction: along edges up and down, else in the row.
  next(arrow) {
    const place = this.places.get(this.current), sign = arrow === "ArrowDown" || arrow === "ArrowRight" ? 1 : -1;
    if (arrow === "ArrowLeft" || arrow === "ArrowRight") return this.rows[place.row][place.i + sign]?.key;
    const linked = (sign > 0 ? this.inputs(this.current) : this.users(this.current)).map((key) => this.places.get(key));
    const far = (other) => Math.abs(other.y - place.y) + Math.abs(other.x - place.x) / 4;
    const [nearest] = linked.filter((other) => (other.y - place.y) * sign > 0).sort((a, b) => far(a) - far(b));
    return nearest?.box.key ?? this.rows[place.row + sign]?.[0].key;
  }

  close() {
    const { box } = this.places.get(this.current), path = box.group?.key ?? this.moduleOf.get(box.tensor.id);
    const around = this.openGroups.filter((group) => path === group.key || path.startsWith(`${group.key}.`)).at(-1);
    if (around) this.toggle(around.key);
  }

  onClick(event) {
    const key = event.target.closest("[data-key]")?.dataset.key;
    if (!this.places.has(key)) return;
    this.current = key;
    if (this.places.get(key).box.group) this.toggle(key);
  }

  onKey(event) {
    const box = this.places.get(this.current)?.box;
    if (!box || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key.startsWith("Arrow")) this.goTo(this.next(event.key) ?? this.current);
    else if ((event.key === "Enter" || event.key === " ") && box.group) this.toggle(box.key);
    else if (event.key === "Backspace") this.close();
    else if (event.key === "Home") this.goTo(this.root);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

export async function graph(t, into, most = FIRST) {
  const line = `tensor graph #${t.id} --limit ${most}${t.state === "lazy" ? "" : " --history"} --json`;
  const told = await post("/command", { command: line }).catch(() => null);
  if (!told || told.tensors.length < 2) return;
  const more = element("button", { type: "button", textContent: `Show up to ${MOST}` });
  more.addEventListener("click", () => graph(t, into, MOST));
  const made = new Graph(t, told, most < MOST ? [more] : []);
  into.replaceChildren(...made.elements);
  made.lay();
  made.goTo(made.root, false);
  made.scroll.scrollLeft = made.places.get(made.root).x + WIDTH / 2 - made.scroll.clientWidth / 2;
  new ResizeObserver(() => made.later()).observe(made.scroll);
}
