// The page of a session: what the program does, where it stands, and its tensors.
import { get, listen, post, useToken } from "/api.js";
import { element, find } from "/dom.js";
import * as card from "/card.js";
import * as memory from "/memory.js";
import * as source from "/source.js";
import * as tensors from "/tensors.js";

const EVENTS = ["nan", "inf", "eval", "implicit", "misuse", "error", "alloc", "free"];
const HEARD = "running,stopped,exited,ended,output,breakpoint,findings"; // of tensors there is a list
let state = "none";
let stops = 1; // how many there were
let session = null; // its number; 0: there is none
let hearing = new AbortController(); // its events
let output = "";

function say(text, bad = false) {
  find("log").append(element("span", { className: bad ? "bad" : "", textContent: text.endsWith("\n") ? text : `${text}\n` }));
  find("log").scrollTop = find("log").scrollHeight;
}

const failed = (error) => say(error.message, true);

// ---- what stands where ----

// Of a core, say, whose program is another: it stays where it can be seen.
function warn(text) {
  find("warning").hidden = !text;
  if (find("warning").textContent !== text) find("warning").textContent = text; // an alert is read aloud each time
}

function showState(status) {
  state = status.state;
  find("program").textContent = status.program.split("/").at(-1);
  document.title = `${find("program").textContent}: ${state}`;
  warn(status.warning ?? "");
  const why = status.stop?.signal ?? status.stop?.reason ?? "";
  const where = status.location?.function ? ` in ${status.location.function}, line ${status.location.line ?? "?"}` : "";
  find("state").textContent = state === "exited" ? `exited, status ${status.stop?.exit_code ?? why}`
    : state === "not_started" ? "loaded: Continue runs it" : `${state}${state === "paused" ? where : ""}${why && state === "paused" ? ` (${why})` : ""}`;
  const can = { continue: state !== "running" && state !== "ended", next: state === "paused", step: state === "paused" || state === "not_started",
                finish: state === "paused", pause: state === "running", terminate: true };
  for (const button of document.querySelectorAll("[data-do]")) button.disabled = !can[button.dataset.do];
}

function showStack({ frames, selected }) {
  find("stack").replaceChildren(...frames.map((f) => {
    const button = element("button", { type: "button",
      textContent: `${f.level} ${f.function ?? "?"} ${f.file ? `${f.file.split("/").at(-1)}:${f.line}` : f.library?.split("/").at(-1) ?? ""}` });
    button.setAttribute("aria-current", f.level === selected);
    button.addEventListener("click", () => selectFrame({ level: f.level }));
    return element("li", {}, button);
  }));
}

function showThreads({ current, threads }) {
  find("threads").replaceChildren(...threads.map((t) => element("option", { value: t.id, selected: t.id === current,
    textContent: `${t.id} ${t.name ?? ""} ${t.location?.function ?? ""}` })));
  find("threads").hidden = threads.length < 2;
}

function showVariables({ variables }) {
  find("variables").tBodies[0].replaceChildren(...variables.map((v) => {
    const cell = element("td");
    if (v.tensor?.id) {
      const button = element("button", { type: "button", textContent: `${v.tensor.dtype} (${v.tensor.shape.join(", ")}) ${v.tensor.state}` });
      button.addEventListener("click", () => tensors.select(v.tensor.id));
      cell.append(button);
    } else {
      cell.textContent = v.value ?? v.type;
      cell.title = v.type ?? "";
    }
    return element("tr", {}, element("td", { textContent: v.name }), cell);
  }));
}

async function refreshPoints() {
  const { breakpoints } = await get("/debug/breakpoints");
  source.showPoints(breakpoints);
  find("breakpoints").replaceChildren(...breakpoints.map((b) => {
    const button = element("button", { type: "button", textContent: "×", title: "Remove it" });
    button.addEventListener("click", () => post("/debug/breakpoint/remove", { id: b.id }).then(refreshPoints).catch(failed));
    const where = b.file_path ? `${b.file_path.split("/").at(-1)}:${b.line}` : b.what ?? b.asked_for ?? b.type;
    return element("li", {}, button, element("span", { textContent: `${b.id} ${where}${b.condition ? ` if ${b.condition}` : ""}` }));
  }));
}

async function showFrame() {
  const [place, stack, threads, variables] = await Promise.all(["location", "stack", "threads", "variables"].map(
    (what) => get(`/debug/${what}`).catch(() => null)));
  if (stack) showStack(stack);
  if (threads) showThreads(threads);
  if (variables) showVariables(variables);
  await source.showPlace(place);
}

async function selectFrame(which) {
  await post("/debug/select", which).catch(failed);
  await showFrame();
}

async function refresh() {
  const status = await get("/debug/status").catch((error) => {
    if (error.status === 404) find("start").hidden = false;
    if (error.status === 401) find("token").hidden = false;
    find("panes").hidden = true;
    warn("");
    for (const button of document.querySelectorAll("[data-do]")) button.disabled = true;
    find("state").textContent = error.status === 404 ? "no session" : error.message;
    return null;
  });
  if (!status) return false;
  find("start").hidden = find("token").hidden = true;
  find("panes").hidden = false;
  showState(status);
  if (status.state === "paused") {
    await Promise.all([showFrame(), tensors.refresh(stops), refreshPoints().catch(failed)]);
    await memory.take(status.location?.function ? `${status.location.function}, line ${status.location.line ?? "?"}` : "");
  } else if (status.state !== "running") {
    await refreshPoints().catch(() => {});
    await source.showPlace(null);
  }
  return true;
}

// Shows the last session that was started, here or elsewhere, once there is another.
async function follow() {
  const last = await get("/sessions").then(({ sessions }) => sessions.at(-1)?.session ?? 0)
    .catch((error) => error.status === 401 ? null : session);
  if (last === session && last !== null) return;
  session = last;
  hearing.abort();
  hearing = new AbortController();
  memory.forget();
  tensors.forget();
  find("output").textContent = output = "";
  if (!await refresh()) return;
  followAddress();
  listen(session, HEARD, onEvent, hearing.signal);
}

// ---- what a person does ----

const actions = {
  continue: () => post("/debug/continue_async"),
  next: () => post("/debug/step/over"),
  step: () => post("/debug/step/into"),
  finish: () => post("/debug/step/out"),
  pause: () => post("/debug/pause"),
  terminate: () => post("/debug/terminate").then(follow),
};

async function act(name) {
  const status = await actions[name]().catch(failed);
  if (status?.state) showState({ ...status, program: status.program ?? find("program").textContent });
}

function frameBy(step) {
  const list = [...find("stack").querySelectorAll("button")];
  const at = list.findIndex((b) => b.getAttribute("aria-current") === "true");
  list[at + step]?.click();
}

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || /INPUT|SELECT|TEXTAREA/.test(document.activeElement.tagName)) return;
  const key = { n: "next", s: "step", c: "continue", f: "finish", p: "pause" }[event.key];
  if (key) act(key);
  else if (event.key === "u") frameBy(1);
  else if (event.key === "d") frameBy(-1);
  else return;
  event.preventDefault();
}

async function onCommand(event) {
  event.preventDefault();
  const input = event.target.elements.line, line = input.value;
  input.value = "";
  say(`(gdb) ${line}`);
  try {
    const told = await post("/command", { command: line });
    say(told.text ?? JSON.stringify(told, null, 1));
    await refresh();
  } catch (error) {
    failed(error);
  }
}

async function onStart(event) {
  event.preventDefault();
  const { path, args } = event.target.elements;
  const what = /(^|\/)core[^/]*$/.test(path.value) ? { core: path.value } : { program: path.value };
  if (args.value.trim()) what.args = args.value.trim().split(/\s+/);
  await post("/debug/start", what).catch((error) => { find("state").textContent = error.message; });
  showTab("console");
  await follow();
}

const findingOf = (f) => element("article", { className: `finding ${f.severity}` },
  element("h2", { textContent: `${f.id}: ${f.title}` }), element("p", { textContent: f.evidence }), element("p", { textContent: f.advice }));

let known = []; // findings

function showFindings(list) {
  known = list;
  find("findings").replaceChildren(...list.map(findingOf));
}

async function look() {
  find("findings").replaceChildren(element("p", { textContent: "Looking …" }));
  const told = await get("/doctor").catch((error) => ({ error }));
  showFindings(told.findings ?? []);
  if (told.error) find("findings").append(element("p", { className: "bad", textContent: told.error.message }));
  else if (!known.length) find("findings").append(element("p", { textContent: `Nothing found by ${told.checked.length} rules.` }));
  hasNews(false);
}

// The doctor was asked, here or elsewhere: what it finds anew comes first.
function showNews({ findings }) {
  const keyOf = (f) => JSON.stringify([f.id, f.site, f.tensors]), old = new Set(known.map(keyOf));
  const fresh = findings.filter((f) => !old.has(keyOf(f)));
  if (!fresh.length || /Looking/.test(find("findings").textContent)) return;
  showFindings([...fresh, ...known]);
  hasNews(find("tab-findings").hidden);
}

const hasNews = (has) => document.querySelector('[data-tab="findings"]').classList.toggle("news", has);

// ---- events ----

function onEvent(type, data) {
  if (type === "output") {
    output = (output + data.text).slice(-65536);
    find("output").textContent = output;
  } else if (type === "findings") {
    showNews(data);
  } else if (type === "running") {
    find("state").textContent = "running";
    state = "running";
  } else if (type === "exited") {
    tensors.forget(); // the next are another run's
    refresh();
  } else if (type === "stopped" || type === "ended") {
    stops++;
    refresh();
  } else if (type === "breakpoint" && state !== "running") {
    refreshPoints().catch(() => {});
  }
}

function showTab(name) {
  for (const tab of document.querySelectorAll("[data-tab]")) {
    tab.setAttribute("aria-selected", tab.dataset.tab === name);
    tab.tabIndex = tab.dataset.tab === name ? 0 : -1;
    find(`tab-${tab.dataset.tab}`).hidden = tab.dataset.tab !== name;
  }
  if (name === "memory") memory.show();
  if (name === "findings") hasNews(false);
}

function onTabKey(event) {
  const tabs = [...document.querySelectorAll("[data-tab]")], at = tabs.indexOf(event.target);
  const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[event.key];
  if (next === undefined) return;
  const tab = tabs[(next + tabs.length) % tabs.length];
  event.preventDefault();
  showTab(tab.dataset.tab);
  tab.focus();
}

// #tensor=12 leads to a tensor's card.
function followAddress() {
  const id = Number(new URLSearchParams(location.hash.slice(1)).get("tensor"));
  if (id) tensors.select(id);
}

for (const button of document.querySelectorAll("[data-do]")) button.addEventListener("click", () => act(button.dataset.do));
for (const tab of document.querySelectorAll("[data-tab]")) tab.addEventListener("click", () => showTab(tab.dataset.tab));
find("events").replaceChildren(...EVENTS.map((name) => element("option", { textContent: name })));
find("catch").addEventListener("submit", (event) => {
  event.preventDefault();
  post("/debug/catch", { event: event.target.elements.event.value }).then(refreshPoints).catch(failed);
});
find("threads").addEventListener("change", (event) => selectFrame({ thread: Number(event.target.value) }));
find("command").addEventListener("submit", onCommand);
find("start").addEventListener("submit", onStart);
find("token").addEventListener("submit", async (event) => {
  event.preventDefault();
  useToken(event.target.elements.token.value);
  showTab("console");
  await follow();
});
find("tabs").addEventListener("keydown", onTabKey);
window.addEventListener("hashchange", followAddress);
find("look").addEventListener("click", look);
document.addEventListener("keydown", onKey);
source.prepare(failed, () => refreshPoints().catch(failed));
tensors.prepare(card.show);
showTab("console");
for (;;) {
  await follow();
  await new Promise((done) => setTimeout(done, 2000));
}
