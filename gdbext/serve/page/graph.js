// The graph behind a tensor, drawn in layers: what it is computed from is below.
import { post } from "/api.js";
import { drawn, element, shape } from "/dom.js";
import { select } from "/tensors.js";

const WIDTH = 150, HEIGHT = 40, GAP = 18, MOST = 60;

// How far each is from the root, at most; and who is in which layer.
function layersOf(told) {
  const depth = new Map([[told.root, 0]]);
  for (let pass = 0; pass < told.tensors.length; pass++) {
    let changed = false;
    for (const { from, to } of told.edges) {
      const next = (depth.get(to) ?? -1) + 1;
      if (depth.has(to) && next > (depth.get(from) ?? -1)) {
        depth.set(from, next);
        changed = true;
      }
    }
    if (!changed) break;
  }
  const layers = [];
  for (const t of told.tensors) (layers[depth.get(t.id) ?? 0] ??= []).push(t);
  return layers;
}

function boxOf(t, x, y) {
  const group = drawn("g", { transform: `translate(${x} ${y})`, tabindex: 0, role: "button", "aria-label": t.name ?? t.op });
  group.append(drawn("rect", { class: `box ${t.state}`, width: WIDTH, height: HEIGHT, rx: 4 }),
    drawn("text", { x: 8, y: 16 }, `${t.name ?? `#${t.id}`} ${t.op}`.slice(0, 22)),
    drawn("text", { x: 8, y: 31 }, `${shape(t.shape)} ${t.state}`.slice(0, 22)));
  group.addEventListener("click", () => select(t.id));
  return group;
}

export async function graph(t, into) {
  const told = await post("/command", { command: `tensor graph #${t.id} --limit ${MOST} --depth 8${t.state === "lazy" ? "" : " --history"} --json` }).catch(() => null);
  if (!told || told.tensors.length < 2) return;
  const layers = layersOf(told), wide = Math.max(...layers.map((l) => l.length));
  const width = wide * (WIDTH + GAP), places = new Map();
  const boxes = layers.flatMap((layer, depth) => layer.map((one, i) => {
    const x = (width - layer.length * (WIDTH + GAP)) / 2 + i * (WIDTH + GAP), y = depth * (HEIGHT + 2 * GAP);
    places.set(one.id, [x, y]);
    return boxOf(one, x, y);
  }));
  const edges = told.edges.filter((e) => places.has(e.from) && places.has(e.to)).map(({ from, to }) => {
    const [fx, fy] = places.get(from), [tx, ty] = places.get(to);
    return drawn("path", { class: "edge", d: `M${fx + WIDTH / 2} ${fy} L${tx + WIDTH / 2} ${ty + HEIGHT}` });
  });
  into.replaceChildren(element("h2", { textContent: "Computed from" }),
    drawn("svg", { viewBox: `-2 -2 ${width + 4} ${layers.length * (HEIGHT + 2 * GAP)}`, width, role: "group",
                   "aria-label": "graph" }, ...edges, ...boxes));
  if (told.cut) into.append(element("p", { className: "faint", textContent: "There is more: tensor graph has all." }));
}
