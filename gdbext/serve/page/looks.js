// What a person chooses about a heat map: which axes, which index, contrast, colours, what is looked for. Each changes the view, and says so.
import { element } from "/dom.js";
import { colours, filterOf } from "/raster.js";

function choice(label, options, value, changed) {
  const select = element("select", { "aria-label": label }, ...options.map(([key, text]) => element("option", {
    value: key, textContent: text, selected: key === value })));
  select.addEventListener("change", () => changed(select.value));
  return element("label", {}, `${label} `, select);
}

// A slider for each axis that is not drawn.
export function sliders(t, view, changed) {
  const { row, column, channel } = view.layout;
  return t.shape.flatMap((size, axis) => {
    if ([row, column, channel].includes(axis) || size < 2) return [];
    const slider = element("input", { type: "range", min: 0, max: size - 1, value: view.index[axis], "aria-label": `Index of axis ${axis}` });
    const label = element("label", {}, `axis ${axis} `, slider, element("output", { textContent: `${view.index[axis]} of ${size}` }));
    slider.addEventListener("input", () => {
      view.index[axis] = Number(slider.value);
      label.lastChild.textContent = `${slider.value} of ${size}`;
      changed();
    });
    return [label];
  });
}

// Which axes are rows, columns and channels, where there are more than two.
export function axes(t, view, changed) {
  const { layout } = view, all = t.shape.map((size, axis) => [axis, `axis ${axis} (${size})`]);
  if (all.length < 3) return [];
  const turn = (which, rival) => (value) => {
    const chosen = Number(value);
    if (layout[rival] === chosen) layout[rival] = layout[which];
    if (layout.channel === chosen) layout.channel = null;
    layout[which] = chosen;
    changed();
  };
  const made = [choice("Rows", all, layout.row, turn("row", "column")), choice("Columns", all, layout.column, turn("column", "row"))];
  const coloured = all.filter(([axis]) => [3, 4].includes(t.shape[axis]) && axis !== layout.row && axis !== layout.column);
  if (coloured.length)
    made.push(choice("Channels", [["", "none"], ...coloured], layout.channel ?? "", (value) => {
      layout.channel = value === "" ? null : Number(value);
      changed();
    }));
  return made;
}

export function zoomButtons(to) {
  const buttons = [["+", "Zoom in (+)", () => to.zoom(1.6, ...to.cursor())], ["−", "Zoom out (-)", () => to.zoom(1 / 1.6, ...to.cursor())],
                   ["All", "Show all (0)", () => to.all()]];
  return element("span", { className: "keys" }, ...buttons.map(([text, title, what]) => {
    const button = element("button", { type: "button", textContent: text, title, "aria-label": title });
    button.addEventListener("click", what);
    return button;
  }));
}

// Contrast and colours: {elements, showRange(range)}.
export function contrast({ look }, changed) {
  const end = (which) => element("input", { type: "number", step: "any", "aria-label": `Value of the ${which} colour` });
  const low = end("darkest"), high = end("brightest");
  const table = choice("Colours", colours.map((name) => [name, name === "both" ? "blue to red" : name]), look.colours, (value) => {
    look.colours = value;
    changed();
  });
  const setFixed = () => {
    const [a, b] = [Number(low.value), Number(high.value)];
    if (!(a < b)) return;
    Object.assign(look, { how: "fixed", low: a, high: b });
    how.lastChild.value = "fixed";
    changed();
  };
  const ways = [["all", "lowest to highest"], ["middle", "1 to 99 %"], ["zero", "around 0"], ["fixed", "fixed"]];
  const how = choice("Contrast", ways, look.how, (value) => {
    look.how = value;
    if (value === "fixed") setFixed();
    if (value === "zero") look.colours = table.lastChild.value = "both";
    changed();
  });
  for (const input of [low, high]) input.addEventListener("change", setFixed);
  return {
    elements: [how, element("span", { className: "range" }, low, " to ", high), table],
    showRange(range) {
      [low, high].forEach((input, i) => { if (document.activeElement !== input) input.value = Number(range[i].toPrecision(6)); });
    },
  };
}

// What is looked for, and listed in which order: {elements, passes: a test of a value or null, tell(text), take()}.
export function filter({ look }, changed) {
  const input = element("input", { className: "code", placeholder: "> 0.5, abs > 3, nan", "aria-label": "Show only values",
                                   value: look.filter, spellcheck: false, autocomplete: "off" });
  const found = element("span", { className: "faint", role: "status" });
  const orders = [["", "what passes"], ["largest", "largest first"], ["smallest", "smallest first"]];
  const order = choice("List", orders, look.order, (value) => {
    look.order = value;
    changed();
  });
  const made = { elements: [element("label", {}, "Only ", input), order, found], passes: null, tell: (text) => { found.textContent = text; } };
  const take = () => {
    look.filter = input.value;
    try {
      made.passes = filterOf(input.value);
      changed();
    } catch (error) {
      made.tell(error.message);
    }
  };
  input.addEventListener("input", take);
  made.take = take;
  return made;
}
