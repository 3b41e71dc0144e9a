// The graph behind a tensor, folded by module: tensors whose names begin alike, as in layers.0.attn.*, stand in one box until it is
// opened. No document is needed here.

const partsOf = (name) => (name?.includes(".") ? name.split(".").slice(0, -1) : []);

// What two paths begin with. Where they part at a number, as between layers, the later one counts.
function together(a, b) {
  let n = 0;
  while (n < a.length && n < b.length && a[n] === b[n]) n++;
  const numbers = n < a.length && n < b.length && [a[n], b[n]].every((part) => /^\d+$/.test(part));
  return numbers ? [...a.slice(0, n), String(Math.max(Number(a[n]), Number(b[n])))] : a.slice(0, n);
}

// The module of each tensor, by id. An operation without a name of that kind belongs to the module of the weights it uses, else of its
// other inputs; the root, which is what one asked for, to none.
export function modulesOf({ tensors, edges, root }) {
  const byId = new Map(tensors.map((t) => [t.id, t])), inputs = new Map(tensors.map((t) => [t.id, []]));
  for (const { from, to } of edges) if (byId.has(from) && byId.has(to)) inputs.get(to).push(from);
  const modules = new Map();
  // depth first without recursion: inputs before what is made of them
  const order = [], begun = new Set();
  for (const { id } of tensors) {
    const stack = [[id, 0]];
    while (stack.length) {
      const top = stack.at(-1), [at, next] = top;
      if (next === 0 && begun.has(at)) {
        stack.pop();
        continue;
      }
      begun.add(at);
      if (next < inputs.get(at).length) {
        top[1]++;
        const input = inputs.get(at)[next];
        if (!begun.has(input)) stack.push([input, 0]);
      } else {
        order.push(at);
        stack.pop();
      }
    }
  }
  for (const id of order) {
    const own = partsOf(byId.get(id).name);
    const known = inputs.get(id).map((input) => ({ path: modules.get(input) ?? [], isLeaf: !inputs.get(input).length })).filter((i) => i.path.length);
    const weights = known.filter((i) => i.isLeaf), used = weights.length ? weights : known;
    modules.set(id, own.length || !used.length || id === root ? own : used.map((i) => i.path).reduce(together));
  }
  return modules;
}

// A tree of modules: {key, name, parts: Map, tensors, count, bytes}.
export function treeOf(told, modules = modulesOf(told)) {
  const group = (key, name) => ({ key, name, parts: new Map(), tensors: [], count: 0, bytes: 0 });
  const root = group("", "");
  for (const t of told.tensors) {
    let at = root;
    for (const part of modules.get(t.id)) {
      at.count++;
      at.bytes += t.nbytes ?? 0;
      const key = at.key ? `${at.key}.${part}` : part;
      if (!at.parts.has(part)) at.parts.set(part, group(key, key));
      at = at.parts.get(part);
    }
    at.count++;
    at.bytes += t.nbytes ?? 0;
    at.tensors.push(t);
  }
  return root;
}

// A module of one tensor is that tensor, and one that holds nothing but another module is that module.
function inside(group) {
  while (group.key && !group.tensors.length && group.parts.size === 1) [group] = group.parts.values();
  return group;
}

// What stands in the drawing when these modules are open: [{key, group or tensor}], and each tensor's box.
export function boxesOf(root, open) {
  const boxes = [], boxOf = new Map(), opened = [];
  const hide = (group, key) => {
    for (const t of group.tensors) boxOf.set(t.id, key);
    for (const part of group.parts.values()) hide(part, key);
  };
  const show = (group) => {
    for (const t of group.tensors) {
      boxes.push({ key: `#${t.id}`, tensor: t });
      boxOf.set(t.id, `#${t.id}`);
    }
    for (let part of group.parts.values()) {
      part = inside(part);
      if (part.count === 1) {
        show(part);
      } else if (open.has(part.key)) {
        opened.push(part);
        show(part);
      } else {
        boxes.push({ key: part.key, group: part });
        hide(part, part.key);
      }
    }
  };
  show(root);
  return { boxes, boxOf, opened };
}

// Which modules to open at first: the outermost ones, as long as so many boxes suffice.
export function openedAtFirst(root, most) {
  const open = new Set();
  for (let tried = true; tried;) {
    tried = false;
    const { boxes } = boxesOf(root, open);
    const next = boxes.filter((b) => b.group).sort((a, b) => a.key.split(".").length - b.key.split(".").length);
    for (const { key } of next) {
      open.add(key);
      if (boxesOf(root, open).boxes.length <= most) {
        tried = true;
        break;
      }
      open.delete(key);
    }
  }
  return open;
}

// Edges between boxes, each once: [{from, to, count}].
export function edgesOf(edges, boxOf) {
  const found = new Map();
  for (const { from, to } of edges) {
    const a = boxOf.get(from), b = boxOf.get(to);
    if (!a || !b || a === b) continue;
    const key = `${a}\n${b}`, edge = found.get(key);
    if (edge) edge.count++;
    else found.set(key, { from: a, to: b, count: 1 });
  }
  return [...found.values()];
}

// Layers of boxes: what something is made of is below it, but where modules use each other. `start`: the root's box.
export function layersOf(boxes, edges, start) {
  const inputs = new Map(boxes.map((b) => [b.key, []]));
  for (const { from, to } of edges) inputs.get(to).push(from);
  const state = new Map(), order = [], back = new Set();
  for (const first of [start, ...inputs.keys()]) {
    if (state.has(first)) continue;
    const stack = [[first, 0]];
    state.set(first, "open");
    while (stack.length) {
      const top = stack.at(-1), list = inputs.get(top[0]);
      if (top[1] === list.length) {
        state.set(top[0], "done");
        order.push(top[0]);
        stack.pop();
        continue;
      }
      const input = list[top[1]++];
      if (!state.has(input)) {
        state.set(input, "open");
        stack.push([input, 0]);
      } else if (state.get(input) === "open") {
        back.add(`${input}\n${top[0]}`);
      }
    }
  }
  const depth = new Map(boxes.map((b) => [b.key, 0]));
  for (const key of order.reverse())
    for (const input of inputs.get(key))
      if (!back.has(`${input}\n${key}`)) depth.set(input, Math.max(depth.get(input), depth.get(key) + 1));
  const layers = [];
  for (const box of boxes) (layers[depth.get(box.key)] ??= []).push(box);
  const users = new Map(boxes.map((b) => [b.key, []]));
  for (const { from, to } of edges) users.get(from).push(to);
  const place = new Map();
  const laid = layers.filter(Boolean);
  laid.forEach((layer) => {
    const middle = (box) => {
      const known = users.get(box.key).map((key) => place.get(key)).filter((x) => x !== undefined);
      return known.length ? known.reduce((sum, x) => sum + x, 0) / known.length : Infinity;
    };
    const at = new Map(layer.map((box, i) => [box.key, [middle(box), i]]));
    layer.sort((a, b) => { const [x, i] = at.get(a.key), [y, j] = at.get(b.key); return x === y ? i - j : x - y; });
    layer.forEach((box, i) => place.set(box.key, (i + 0.5) / layer.length));
  });
  return laid;
}
