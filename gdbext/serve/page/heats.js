// The heat map of a tensor, or those of two beside each other with their difference: one sight of all, what is under the pointer, what
// is found. Only values of what is seen are asked for, and no more of them than there are places on the screen.
import { get } from "/api.js";
import { element, number } from "/dom.js";
import { gestures, moved, zoomed } from "/gestures.js";
import { columnsOf, difference, HeatMap, rowsOf } from "/heat.js";
import { axes, contrast, filter, sliders, zoomButtons } from "/looks.js";
import { isExact, layoutOf, rangeOf, span } from "/raster.js";

const LEAST = 4; // elements along an axis, when nearest
const LISTED = 200;

// What is seen of it: parts x and y of [0, 1], an index on each other axis, the cursor's row and column, and how it is drawn.
export function wholeView(t) {
  return { layout: layoutOf(t.shape), index: t.shape.map(() => 0), x: [0, 1], y: [0, 1], cursor: null,
           look: { how: "all", low: 0, high: 1, colours: "viridis", filter: "", order: "" } };
}

const indexText = (index) => index.map((at) => at ?? ":").join(", ");
const isHit = (grid, i, passes) => passes(grid.marked.has(i) ? NaN : grid.values[i]);
const nameOf = (t) => t.name ?? `#${t.id}`;

class Heats {
  constructor(t, view, other) {
    this.t = t;
    this.view = view;
    this.maps = [t, ...(other ? [other] : [])].map((one) => new HeatMap(one, nameOf(one)));
    this.apart = other ? new HeatMap(t, "difference") : null;
    this.told = element("output", { className: "code told", textContent: " " });
    this.note = element("p", { className: "faint note" });
    this.list = element("ol", { className: "code found" });
    this.contrast = contrast(view, () => this.later());
    this.filter = filter(view, () => this.tellFound());
    this.asked = this.frame = 0;
    this.element = this.lay();
    this.filter.take();
    this.load();
  }

  lay() {
    const root = element("div", { className: "heats" }), shown = this.apart ? [...this.maps, this.apart] : this.maps;
    const slid = sliders(this.t, this.view, () => {
      for (const map of this.maps) map.whole = null;
      this.loadSoon();
    });
    const turned = axes(this.t, this.view, () => root.dispatchEvent(new CustomEvent("turned")));
    const shape = Math.max(0.12, Math.min(1, rowsOf(this.t, this.view) / columnsOf(this.t, this.view)));
    for (const { canvas } of shown) {
      canvas.style.aspectRatio = String(1 / shape);
      gestures(canvas, this);
    }
    new ResizeObserver(() => this.later()).observe(shown[0].canvas);
    root.append(...slid, element("div", { className: "bar" }, ...turned, zoomButtons(this)),
      element("div", { className: "side" }, ...shown.map((map) => map.figure)), this.told, this.note,
      element("div", { className: "bar looks" }, ...this.contrast.elements, ...this.filter.elements), this.list);
    return root;
  }

  // ---- drawing ----

  draw() {
    this.frame = 0;
    const { maps: [map], apart, view } = this, range = map.grid ? rangeOf(map.grid, view.look) : [0, 1];
    for (const each of this.maps) each.draw(view, range, this.filter.passes);
    this.contrast.showRange(range);
    if (!apart) return;
    apart.grid = difference(...this.maps);
    const look = { ...view.look, how: "zero", colours: "both" };
    apart.draw({ ...view, look }, apart.grid ? rangeOf(apart.grid, look) : [0, 1], null);
  }

  later() {
    this.frame ||= requestAnimationFrame(() => this.draw());
  }

  async load() {
    try {
      const fresh = await Promise.all(this.maps.map((map) => map.load(this.view)));
      if (!fresh.every(Boolean)) return;
      this.tellSeen();
      this.tellFound();
      if (this.view.cursor) this.tellValue(...this.view.cursor);
    } catch (error) {
      if (error.name !== "AbortError") this.note.textContent = error.message;
    }
  }

  loadSoon() {
    this.later();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.load(), 80);
  }

  // ---- telling ----

  tellSeen() {
    const { maps: [{ grid }], t, view } = this, [top, bottom] = span(view.y, rowsOf(t, view)), [left, right] = span(view.x, columnsOf(t, view));
    const parts = [view.layout.row === null ? `elements ${left} to ${right - 1}` : `rows ${top} to ${bottom - 1}, columns ${left} to ${right - 1}`];
    const { row, column } = grid.steps;
    if (row > 1 || column > 1)
      parts.push(`read of them: ${[row > 1 && `1 row in ${row}`, column > 1 && `1 column in ${column}`].filter(Boolean).join(", ")}`);
    if (grid.averaged) parts.push("averaged to fit: zoom in for elements");
    if (grid.marked.size) parts.push("magenta: NaN or Inf");
    this.note.textContent = `${parts.join("; ")}.`;
    for (const { canvas, title } of this.maps)
      canvas.setAttribute("aria-label", `heat map of ${title}, ${this.note.textContent} Keys: arrows, plus, minus, 0`);
  }

  // What passes the filter, the largest first unless the smallest are wanted, NaN last.
  tellFound() {
    const { maps: [{ grid }], filter: { passes }, view: { look: { order } } } = this;
    this.later();
    if (!(passes || order) || !grid || grid.channels > 1) {
      this.list.replaceChildren();
      this.filter.tell("");
      return;
    }
    const finite = (i) => Number(Number.isFinite(grid.values[i]) && !grid.marked.has(i));
    const hits = [...grid.values.keys()].filter((i) => !passes || isHit(grid, i, passes)), way = order === "smallest" ? -1 : 1;
    hits.sort((a, b) => finite(b) - finite(a) || (finite(a) && way * (grid.values[b] - grid.values[a])) || a - b);
    this.filter.tell(`${hits.length} of ${grid.values.length} ${grid.averaged ? "averages" : isExact(grid) ? "elements" : "elements read"}`);
    this.list.replaceChildren(...hits.slice(0, LISTED).map((i) => this.hit(grid, i)));
    if (hits.length > LISTED) this.list.append(element("li", { className: "faint", textContent: `and ${hits.length - LISTED} more` }));
  }

  // A click goes there.
  hit(grid, i) {
    const at = ([from, to], cells, cell) => Math.floor(from + (cell * (to - from)) / cells);
    const row = at(grid.rows, grid.height, Math.floor(i / grid.width)), column = at(grid.columns, grid.width, i % grid.width);
    const value = grid.marked.has(i) ? "NaN/Inf" : number(grid.values[i]);
    const button = element("button", { type: "button", textContent: `[${indexText(this.indexOf(this.t, row, column))}] ${value}` });
    button.addEventListener("click", () => this.goTo(row, column));
    return element("li", {}, button);
  }

  indexOf(t, row, column) {
    const { layout, index } = this.view;
    return t.shape.map((size, axis) => (axis === layout.row ? row : axis === layout.column ? column : axis === layout.channel ? null
      : Math.min(size - 1, index[axis] ?? 0)));
  }

  // From what is here, or from the server once the pointer rests; null: it has gone on meanwhile.
  async valueIn(map, row, column, mine) {
    const known = map.known(this.view, row, column);
    if (known !== undefined) return known;
    await new Promise((done) => setTimeout(done, 60));
    if (mine !== this.asked) return null;
    const slice = indexText(this.indexOf(map.t, row, column));
    return get(`/tensors/${map.t.id}/values`, { slice }).then((v) => v.values, (error) => error.message);
  }

  async tellValue(row, column) {
    const mine = ++this.asked;
    this.view.cursor = [row, column];
    this.later();
    const values = await Promise.all(this.maps.map((map) => this.valueIn(map, row, column, mine)));
    if (mine !== this.asked) return;
    const texts = values.map((value) => (Array.isArray(value) ? `(${value.map(number).join(", ")})` : number(value)));
    const apart = values.length > 1 && values.every(Number.isFinite) ? `, apart by ${number(values[0] - values[1])}` : "";
    this.told.textContent = `[${indexText(this.indexOf(this.t, row, column))}] = ${texts.join(" and ")}${apart}`;
  }

  goTo(row, column) {
    const near = (at, size, [from, to]) => {
      const part = Math.min(1, Math.max(LEAST / size, Math.min(16 / size, to - from)));
      return moved([(at + 0.5) / size - part / 2, (at + 0.5) / size + part / 2], 0);
    };
    this.view.x = near(column, columnsOf(this.t, this.view), this.view.x);
    this.view.y = near(row, rowsOf(this.t, this.view), this.view.y);
    this.loadSoon();
    this.tellValue(row, column);
  }

  // ---- gestures ----

  isWhole() {
    const { x, y } = this.view;
    return x[1] - x[0] > 0.999 && y[1] - y[0] > 0.999;
  }

  zoom(factor, x, y) {
    this.view.x = zoomed(this.view.x, factor, x, LEAST / columnsOf(this.t, this.view));
    this.view.y = zoomed(this.view.y, factor, y, LEAST / rowsOf(this.t, this.view));
    this.loadSoon();
  }

  move(dx, dy) {
    this.view.x = moved(this.view.x, dx);
    this.view.y = moved(this.view.y, dy);
    this.loadSoon();
  }

  all() {
    this.view.x = [0, 1];
    this.view.y = [0, 1];
    this.loadSoon();
  }

  elementAt(x, y) {
    const along = ([from, to], at, size) => Math.max(0, Math.min(size - 1, Math.floor((from + at * (to - from)) * size)));
    return [along(this.view.y, y, rowsOf(this.t, this.view)), along(this.view.x, x, columnsOf(this.t, this.view))];
  }

  point(x, y) {
    this.tellValue(...this.elementAt(x, y));
  }

  // Where it is in the sight; not within [0, 1]: outside of it.
  cursorInSight() {
    const { cursor, x, y } = this.view, part = (at, size, [from, to]) => ((at + 0.5) / size - from) / (to - from);
    return cursor ? [part(cursor[1], columnsOf(this.t, this.view), x), part(cursor[0], rowsOf(this.t, this.view), y)] : [0.5, 0.5];
  }

  cursor() {
    return this.cursorInSight().map((part) => Math.max(0, Math.min(1, part)));
  }

  // From cell to cell; the sight follows.
  step(dx, dy) {
    const { grid } = this.maps[0], [row, column] = this.view.cursor ?? this.elementAt(0.5, 0.5);
    if (!grid) return;
    const go = (at, by, [from, to], cells, size) => Math.max(0, Math.min(size - 1, at + by * Math.max(1, Math.round((to - from) / cells))));
    this.tellValue(go(row, dy, grid.rows, grid.height, rowsOf(this.t, this.view)),
      go(column, dx, grid.columns, grid.width, columnsOf(this.t, this.view)));
    const [ox, oy] = this.cursorInSight().map((part) => (part < 0 ? -part : part > 1 ? 1 - part : 0));
    if (ox || oy) this.move(1.5 * ox, 1.5 * oy);
  }
}

// An element with them. The view is the caller's, and is changed; it tells of axes that were turned by an event, for then all is to be
// drawn anew.
export function heatMaps(t, view, other = null) {
  const isAlike = other?.shape.length === t.shape.length && other.size > 0, made = new Heats(t, view, isAlike ? other : null).element;
  if (other && !isAlike)
    made.append(element("p", { className: "faint", textContent: `${nameOf(other)} has another number of axes: it cannot be drawn beside this.` }));
  return made;
}
