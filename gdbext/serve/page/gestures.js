// Looking closer at a drawing: wheel and pinch zoom, dragging moves, + - 0 and the arrows do so from the keyboard.
// `to` has zoom(factor, x, y), move(dx, dy), all(), point(x, y) and step(dx, dy); x and y are parts of the element's size, from 0 to 1.
// `isWhole()` says whether all is in sight: then a finger scrolls the page.
const STEP = 1.25;

export function gestures(element, to) {
  const pointers = new Map(); // that are down, to where they are
  let moved = 0;

  const place = (event) => {
    const box = element.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  };
  const spread = () => {
    const [[ax, ay], [bx, by]] = pointers.values();
    const box = element.getBoundingClientRect();
    return { distance: Math.hypot((ax - bx) * box.width, (ay - by) * box.height), x: (ax + bx) / 2, y: (ay + by) / 2 };
  };
  const touch = () => { element.style.touchAction = to.isWhole() ? "pan-y" : "none"; };

  element.addEventListener("wheel", (event) => {
    if (event.deltaY > 0 && to.isWhole()) return; // there is nothing more to see: the page scrolls
    event.preventDefault();
    to.zoom(STEP ** Math.max(-3, Math.min(3, -event.deltaY / 60)), ...place(event));
    touch();
  }, { passive: false });
  element.addEventListener("pointerdown", (event) => {
    if (event.button > 0) return;
    if (pointers.size === 0) moved = 0;
    if (pointers.size < 2) pointers.set(event.pointerId, place(event));
    element.setPointerCapture(event.pointerId);
  });
  element.addEventListener("pointermove", (event) => {
    const at = place(event), before = pointers.get(event.pointerId);
    if (!before) {
      if (event.pointerType === "mouse") to.point(...at);
      return;
    }
    if (pointers.size === 2) {
      const from = spread();
      pointers.set(event.pointerId, at);
      const now = spread();
      to.zoom(now.distance / Math.max(1, from.distance), now.x, now.y);
      to.move(now.x - from.x, now.y - from.y);
      moved = 1;
    } else {
      pointers.set(event.pointerId, at);
      moved += Math.abs(at[0] - before[0]) + Math.abs(at[1] - before[1]);
      if (moved > 0.01) to.move(at[0] - before[0], at[1] - before[1]);
    }
  });
  const up = (event) => {
    if (pointers.delete(event.pointerId) && event.type === "pointerup" && moved <= 0.01) to.point(...place(event));
    touch();
  };
  element.addEventListener("pointerup", up);
  element.addEventListener("pointercancel", up);
  element.addEventListener("dblclick", (event) => {
    to.zoom(STEP ** 5, ...place(event));
    touch();
  });
  element.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const arrow = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (arrow && event.shiftKey) to.move(-arrow[0] / 4, -arrow[1] / 4);
    else if (arrow) to.step(...arrow);
    else if (event.key === "+" || event.key === "=") to.zoom(STEP ** 2, ...to.cursor());
    else if (event.key === "-") to.zoom(STEP ** -2, ...to.cursor());
    else if (event.key === "0") to.all();
    else return;
    event.preventDefault();
    event.stopPropagation();
    touch();
  });
  touch();
}

// What is seen of [0, 1] after zooming: the point at `at` of the sight stays where it is. No part is smaller than `least`.
export function zoomed([from, to], factor, at, least) {
  const size = Math.min(1, Math.max(Math.min(1, least), (to - from) / factor));
  return moved([from + at * (to - from) - at * size, from + at * (to - from) + (1 - at) * size], 0);
}

export function moved([from, to], by) {
  const size = to - from, start = Math.max(0, Math.min(1 - size, from - by * size));
  return [start, start + size];
}
