// The source around where the program stands, with breakpoints to click.
import { get, post } from "/api.js";
import { element, find } from "/dom.js";

let shown = { file: null, lines: [] };
let points = [];
let here = { file: null, line: null };

function mark() {
  for (const row of find("source").children) {
    const line = Number(row.dataset.line);
    const point = points.some((p) => p.file_path === shown.file && p.line === line);
    row.classList.toggle("here", shown.file === here.file && line === here.line);
    row.classList.toggle("point", point);
    row.firstChild.setAttribute("aria-pressed", point);
  }
}

async function toggle(line) {
  const point = points.find((p) => p.file_path === shown.file && p.line === line);
  await (point ? post("/debug/breakpoint/remove", { id: point.id })
               : post("/debug/breakpoint", { file_path: shown.file, line }));
}

function rowOf(text, i, failed) {
  const button = element("button", { type: "button", textContent: i + 1, title: "Stop here" });
  button.addEventListener("click", () => toggle(i + 1).then(refreshPoints).catch(failed));
  const row = element("div", { className: "line" }, button, element("span", { textContent: text || " " }));
  row.dataset.line = i + 1;
  return row;
}

let whenFailed = () => {};
let refreshPoints = () => {};

export function prepare(failed, refresh) {
  whenFailed = failed;
  refreshPoints = refresh;
}

export async function showPlace(place) {
  here = { file: place?.file ?? null, line: place?.line ?? null };
  find("file").textContent = place?.file ? `${place.file}:${place.line ?? "?"}` : "No source";
  if (!place?.file) {
    find("source").replaceChildren();
    shown = { file: null, lines: [] };
    return;
  }
  if (shown.file !== place.file) {
    const { lines } = await get("/source", { file_path: place.file }).catch(() => ({ lines: [] }));
    shown = { file: place.file, lines };
    find("source").replaceChildren(...lines.map((text, i) => rowOf(text, i, whenFailed)));
  }
  mark();
  find("source").querySelector(".here")?.scrollIntoView({ block: "center" });
}

export function showPoints(list) {
  points = list;
  mark();
}
