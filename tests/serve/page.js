// The page of sessions in a browser, as a person uses it: a strided picture is found, live and in a core; ten thousand
// tensors. Called by tests/serve/run: node page.js PLAYWRIGHT CHROMIUM LAZYBONES FOLDER PHOTO LOOP
const { spawn } = require("child_process");
const fs = require("fs");
const path = require("path");
const [playwright, executablePath, lazybones, folder, photo, loop] = process.argv.slice(2);
const { chromium } = require(playwright);

const counts = { passed: 0, failed: 0 };

function check(what, ok, seen) {
  counts[ok ? "passed" : "failed"]++;
  console.log(ok ? `ok: page: ${what}` : `FAILED: page: ${what}: ${String(seen).slice(0, 1000)}`);
}

function serve(...words) {
  const server = spawn(lazybones, ["serve", "--port", "0", "--no-trace", ...words], { cwd: folder });
  const url = new Promise((done, failed) => {
    server.stdout.once("data", (text) => done(String(text).split("\n")[0]));
    server.stderr.once("data", (text) => failed(new Error(String(text))));
  });
  return { server, url };
}

// Whatever a page complains of is a failure, but for answers that say no.
async function open(browser, url, complaints) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => message.type() === "error" && !/status of 4/.test(message.text()) && complaints.push(message.text()));
  page.on("response", async (response) => response.status() >= 500 &&
    complaints.push(`${response.url()}: ${await response.text().catch(() => "no text")}`));
  page.on("request", (request) => request.url().startsWith(url.split("#")[0]) || /^(data|blob):/.test(request.url()) ||
    complaints.push(`it asks for ${request.url()}`));
  page.setDefaultTimeout(120000);
  await page.goto(url);
  return page;
}

const state = (page, text) => page.waitForFunction((wanted) => document.getElementById("state").textContent.includes(wanted), text);

async function say(page, line) {
  await page.click('[data-tab="console"]');
  await page.fill("#command input", line);
  await page.press("#command input", "Enter");
}

// How many colours its picture has, once there are several.
async function pictureIsDrawn(page) {
  const colours = (least) => {
    const canvas = document.querySelector("#card canvas.heat");
    if (!canvas?.width) return false;
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height), seen = new Set();
    for (let i = 0; i < data.length; i += 4) seen.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
    return seen.size > least && seen.size;
  };
  return (await page.waitForFunction(colours, 2)).jsonValue();
}

const told = (page) => page.textContent("#card .told");
const note = (page) => page.textContent("#card .note");
// When what was done has been drawn, however slow the machine: it stays the same for a while.
async function settled(page) {
  for (let before = await note(page); ; ) {
    await page.waitForTimeout(300);
    const now = await note(page);
    if (now === before) return now;
    before = now;
  }
}
const noted = (page, text) => page.waitForFunction((wanted) => document.querySelector("#card .note")?.textContent.includes(wanted), text);
const isTold = (page, text) => page.waitForFunction((wanted) => document.querySelector("#card .told")?.textContent.includes(wanted), text);

async function select(page, name) {
  await page.fill("#search", name);
  await page.locator(".tensor", { has: page.locator(`.name:text-is("${name}")`) }).first().click();
  await page.waitForFunction((wanted) => document.getElementById("card-name").textContent === wanted, name);
}

async function live(browser, complaints, core) {
  const { server, url } = serve(photo, "--buggy", path.join(folder, "out.png"));
  const page = await open(browser, await url, complaints);
  await state(page, "loaded");
  check("the token is not in the address", !page.url().includes("token"), page.url());
  await page.selectOption("#events", "misuse");
  await page.click("#catch button");
  await page.waitForSelector("#breakpoints li");
  await page.click('[data-do="continue"]');
  await state(page, "paused");
  await page.waitForSelector("#stack li");
  const stack = await page.textContent("#stack");
  check("misuse stops in the program's own function", /write_image photo\.c/.test(stack), stack);
  check("the line is marked", (await page.textContent(".line.here")).length > 5);
  await page.fill("#search", "hwc");
  await page.click(".tensor");
  await page.waitForSelector("#card dl");
  const card = await page.textContent("#card");
  check("the strides tell", card.includes("(600, 1, 270000)"), card);
  check("its picture is drawn", (await pictureIsDrawn(page)) > 1);
  const heat = page.locator("#card canvas.heat").first();
  await heat.hover({ position: { x: 5, y: 5 } });
  await page.waitForFunction(() => /\] = \(?[\d.]+/.test(document.querySelector("#card .told").textContent));
  check("the value under the pointer", true);
  await page.waitForSelector("#card svg .box");
  check("the graph is drawn", (await page.locator("#card .graph [data-key]").count()) >= 2);
  await page.click('[data-tab="findings"]');
  await page.click("#look");
  await page.waitForFunction(() => !/Looking/.test(document.getElementById("findings").textContent));
  const findings = await page.textContent("#findings");
  check("findings", /L\d|Nothing found/.test(findings), findings);
  await say(page, `gcore ${core}`);
  await page.waitForFunction(() => /Saved corefile/.test(document.getElementById("log").textContent));
  await page.locator("#source").click({ position: { x: 300, y: 100 } });
  await page.keyboard.press("u");
  await page.waitForFunction(() => document.querySelector("#stack [aria-current=true]")?.textContent.startsWith("2 "));
  check("u goes up a frame", true);
  for (const scheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.setViewportSize({ width: 390, height: 844 });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    check(`a phone, ${scheme}: nothing is wider than the screen`, wide <= 390, wide);
    await page.setViewportSize({ width: 1280, height: 800 });
  }
  await page.click('[data-do="terminate"]');
  await page.waitForSelector("#start:not([hidden])");
  await page.fill("#start input[name=path]", core);
  await page.click("#start button");
  await state(page, "paused");
  await page.fill("#search", "hwc");
  await page.click(".tensor");
  check("of a core, too, the picture is drawn", (await pictureIsDrawn(page)) > 1);
  check("nothing to warn of", await page.locator("#warning").isHidden());
  check("a core cannot go on", await page.locator('[data-do="next"]').isEnabled() === false ||
    await (async () => { await page.click('[data-do="next"]'); await page.waitForFunction(() => /core file cannot run/.test(document.getElementById("log").textContent)); return true; })());
  await page.evaluate(([core, program]) => import("/api.js").then(({ post }) => post("/debug/start", { core, program })), [core, loop]);
  await page.waitForFunction(() => /build id/.test(document.getElementById("warning").textContent));
  check("a core with another program: it warns", await page.locator("#warning").isVisible());
  await page.goto(`${(await url).split("#")[0]}docs`);
  await page.waitForSelector("#routes section");
  check("the requests are described", (await page.locator("#routes section").count()) > 30);
  await page.close();
  server.kill();
}

// Sessions that somebody else starts and ends are shown as they come and go.
async function elsewhere(browser, complaints) {
  const { server, url } = serve("--no-token");
  const page = await open(browser, await url, complaints);
  const ask = (path, body = {}) => page.request.post(`${page.url()}debug/${path}`, { data: body });
  await state(page, "no session");
  check("without a session there is nothing to do", await page.locator("[data-do]:enabled").count() === 0);
  check("and nothing to warn of", await page.locator("#warning").isHidden());
  for (let i = 0; i < 2; i++) {
    await ask("start", { program: loop });
    await state(page, "loaded");
    await ask("breakpoint", { function: "denoise" });
    await ask("continue_async");
    await state(page, "paused in denoise");
    await page.click('[data-do="next"]');
    await state(page, "paused in denoise");
    await ask("terminate");
    await state(page, "no session");
    await page.waitForSelector("#start:not([hidden])");
  }
  await ask("start", { program: loop });
  await state(page, "loaded");
  await ask("breakpoint", { function: "denoise" });
  await ask("continue_async");
  await state(page, "paused in denoise");
  await ask("start", { program: loop });
  await state(page, "loaded");
  check("a session that was started elsewhere is shown", true);
  await page.close();
  server.kill();
}

async function drawings(browser, complaints) {
  const { server, url } = serve("--", loop, "drawings", "0", "200");
  const page = await open(browser, await url, complaints), asked = [];
  page.on("request", (request) => /raster/.test(request.url()) && asked.push(new URL(request.url())));
  await state(page, "loaded");
  await say(page, "break make_drawings");
  await page.waitForSelector("#breakpoints li");
  await page.locator("#source").focus();
  await page.keyboard.press("c");
  await state(page, "make_drawings");
  check("at the first stop nothing is new", !/new/.test(await page.textContent("#total")), await page.textContent("#total"));
  await say(page, "break when_drawn");
  await page.waitForFunction(() => document.querySelectorAll("#breakpoints li").length === 2);
  await page.locator("#source").focus();
  await page.keyboard.press("c");
  await state(page, "when_drawn");
  await page.waitForFunction(() => /\(2\d{3} new/.test(document.getElementById("total").textContent));
  await say(page, "info program");
  await page.waitForFunction(() => /\(gdb\) info program\n[^]*\n/.test(document.getElementById("log").textContent));
  await page.selectOption("#sort", "new");
  check("tensors that were born since the last stop", (await page.locator(".tensor.new").count()) > 3 &&
        /new/.test(await page.textContent("#total")), await page.textContent("#total"));
  await page.selectOption("#sort", "id");
  await heats(page, asked);
  await compared(page);
  await graphs(page);
  await findings(page);
  await memory(page);
  for (const [width, height] of [[390, 844], [800, 900]]) {
    await page.setViewportSize({ width, height });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    check(`with drawings, at ${width}: nothing is wider than the screen`, wide <= width, wide);
  }
  await page.close();
  server.kill();
}

async function heats(page, asked) {
  await select(page, "grid");
  await pictureIsDrawn(page);
  await noted(page, "rows 0 to 39, columns 0 to 59");
  check("NaN is marked", (await note(page)).includes("magenta"), await note(page));
  const heat = page.locator("#card canvas.heat").first();
  await heat.scrollIntoViewIfNeeded();
  const box = await heat.boundingBox(), at = (row, column) => [box.x + ((column + 0.5) / 60) * box.width, box.y + ((row + 0.5) / 40) * box.height];
  await page.mouse.move(...at(3, 20));
  await isTold(page, "[3, 20] = 320");
  await page.mouse.move(...at(7, 11));
  await isTold(page, "[7, 11] = NaN");
  check("value and index under the pointer, NaN too", true);
  await page.mouse.move(...at(20, 30));
  for (let i = 0; i < 12; i++) await page.mouse.wheel(0, -60);
  await page.waitForFunction(() => !/rows 0 to 39/.test(document.querySelector("#card .note").textContent));
  const zoomed = await settled(page);
  check("the wheel zooms to the pointer", /rows (1\d|20) to 2\d, columns 2\d to 3\d/.test(zoomed), zoomed);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2 + 200, box.y + box.height / 2, { steps: 5 });
  await page.mouse.up();
  await page.waitForFunction((old) => document.querySelector("#card .note").textContent !== old, zoomed);
  check("dragging moves", Number(/columns (\d+)/.exec(await settled(page))[1]) < Number(/columns (\d+)/.exec(zoomed)[1]), await note(page));
  await heat.focus();
  await page.keyboard.press("0");
  await noted(page, "rows 0 to 39, columns 0 to 59");
  await page.keyboard.press("+");
  await page.waitForFunction(() => !/rows 0 to 39/.test(document.querySelector("#card .note").textContent));
  await page.keyboard.press("-");
  await page.keyboard.press("-");
  await noted(page, "rows 0 to 39, columns 0 to 59");
  const before = await told(page);
  await page.keyboard.press("ArrowDown");
  await page.waitForFunction((old) => document.querySelector("#card .told").textContent !== old, before);
  check("+ - 0 and the arrows do so from the keyboard", true);
  await page.evaluate(() => {
    const canvas = document.querySelector("#card canvas.heat"), { left, top } = canvas.getBoundingClientRect();
    const touch = (type, pointerId, x, y) => canvas.dispatchEvent(new PointerEvent(type, { pointerId, pointerType: "touch", bubbles: true, clientX: left + x, clientY: top + y }));
    canvas.setPointerCapture = () => {};
    touch("pointerdown", 1, 100, 60);
    touch("pointerdown", 2, 120, 60);
    for (let i = 0; i < 40; i++) touch("pointermove", 2, 120 + i * 2, 60);
    touch("pointerup", 1, 100, 60);
    touch("pointerup", 2, 200, 60);
  });
  await page.waitForFunction(() => !/rows 0 to 39/.test(document.querySelector("#card .note").textContent));
  check("two fingers zoom", true);
  await page.click('#card .keys button:text-is("All")');
  await page.fill('#card input[aria-label="Show only values"]', "> 3955");
  await page.waitForFunction(() => /^4 of 2400 elements/.test(document.querySelector("#card [role=status]").textContent));
  const found = await page.$$eval("#card .found button", (all) => all.map((one) => one.textContent));
  check("a filter lists what passes, the largest first", found[0] === "[39, 59] 3959" && found.length === 4, found);
  await page.fill('#card input[aria-label="Show only values"]', "");
  await page.selectOption('#card select[aria-label="List"]', "smallest");
  const least = await page.$$eval("#card .found button", (all) => all.map((one) => one.textContent));
  check("all are listed in order", least[0] === "[0, 0] 0" && least[1] === "[0, 1] 1", least.slice(0, 3));
  await page.selectOption('#card select[aria-label="List"]', "");
  await page.fill('#card input[aria-label="Show only values"]', "nan");
  await page.click("#card .found button");
  await isTold(page, "[7, 11] = NaN");
  await page.waitForFunction(() => /rows \d to 1\d,/.test(document.querySelector("#card .note").textContent));
  check("a click in the list goes there", true);
  await page.fill('#card input[aria-label="Show only values"]', "");
  await page.fill('#card input[aria-label="Value of the brightest colour"]', "100");
  await page.press('#card input[aria-label="Value of the brightest colour"]', "Tab");
  check("a range that is typed is kept", (await page.$eval('#card select[aria-label="Contrast"]', (one) => one.value)) === "fixed");
  await select(page, "pages");
  await noted(page, "rows 0 to 9, columns 0 to 59");
  await page.$eval('#card input[type="range"]', (slider) => { slider.value = 2; slider.dispatchEvent(new Event("input")); });
  await page.waitForFunction(() => document.querySelector("#card canvas.heat"));
  const pages = page.locator("#card canvas.heat").first();
  await pages.scrollIntoViewIfNeeded();
  const wide = await pages.boundingBox();
  await page.mouse.move(wide.x + wide.width - 2, wide.y + 2);
  await isTold(page, "[2, 0, 59] = 2059");
  check("a slider goes through the leading axis", true);
  asked.length = 0;
  await select(page, "huge");
  await noted(page, "1 row in");
  const slice = asked.at(-1).searchParams.get("slice"), [rows, columns] = slice.split(",").map((one) => one.split(":").map(Number));
  const read = Math.ceil((rows[1] - rows[0]) / (rows[2] ?? 1)) * Math.ceil((columns[1] - columns[0]) / (columns[2] ?? 1));
  check("of a billion elements no more than four million are read", read <= 4 << 20 && (await page.locator('button:text("Statistics of all")').count()) === 1, slice);
}

async function compared(page) {
  await select(page, "grid");
  await page.fill("#card .compare input", "grid2");
  await page.press("#card .compare input", "Enter");
  await page.waitForFunction(() => document.querySelectorAll("#card canvas.heat").length === 3);
  const heat = page.locator("#card canvas.heat").nth(1);
  await heat.scrollIntoViewIfNeeded();
  await page.waitForTimeout(300);
  const box = await heat.boundingBox();
  await page.mouse.move(box.x + 2, box.y + 2);
  await isTold(page, "[0, 0] = 0 and 0, apart by 0");
  check("two tensors side by side, and their difference", true);
  await page.mouse.wheel(0, -240);
  await page.waitForFunction(() => [...document.querySelectorAll("#card canvas.heat")].slice(0, 2).every((one) => !/rows 0 to 39/.test(one.getAttribute("aria-label"))));
  check("at the same zoom", true);
  await page.click('#card .compare button:text-is("Clear")');
}

async function graphs(page) {
  await select(page, "network");
  await page.waitForSelector("#card .graph [data-key]");
  const count = () => page.locator("#card .graph [data-key]").count();
  await page.click('#card button:text("Show up to")');
  await page.waitForFunction(() => /Computed from \(2\d{3} tensors\)/.test(document.getElementById("card").textContent));
  const layers = page.locator('#card .graph [data-key="layers"]');
  check("thousands of tensors are folded by module", (await count()) < 10 && /layers, \d+ tensors, .*KiB, folded/.test(await layers.getAttribute("aria-label")),
        `${await count()} ${await layers.getAttribute("aria-label").catch(() => "")}`);
  await layers.focus();
  await page.keyboard.press("Enter");
  await page.waitForSelector('#card .graph [data-key="layers.199"]');
  check("Enter unfolds, and only what is in sight is drawn", (await count()) > 2 && (await count()) < 100, await count());
  await page.locator('#card .graph [data-key="layers.199"]').click();
  await page.waitForSelector('#card .graph [data-key="layers.199.attn"]');
  await page.click('#card .chips button:text-is("Open all")');
  await page.waitForFunction(() => !document.querySelector('#card .graph [aria-expanded="false"]'));
  check("all at once are bearable", (await count()) < 200, await count());
  const root = page.locator("#card .graph a").first();
  await root.focus();
  const first = await page.evaluate(() => document.activeElement.dataset.key);
  await page.keyboard.press("ArrowDown");
  const second = await page.evaluate(() => document.activeElement.dataset.key);
  check("arrows lead along the edges", first !== second && second, `${first} ${second}`);
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.getElementById("card-name").textContent !== "network");
  check("a box is a link to its card", /#tensor=\d+$/.test(page.url()), page.url());
  const name = await page.textContent("#card-name");
  await page.reload();
  await page.waitForFunction((wanted) => document.getElementById("card-name").textContent === wanted, name);
  check("which the address leads to, too", true);
  const folded = await page.evaluate(async () => {
    const { boxesOf, layersOf, edgesOf, modulesOf, treeOf } = await import("/fold.js");
    const tensors = [["m.a.w"], ["m.b.w"], [""], [""], ["out"]].map(([name], i) => ({ id: i + 1, name, nbytes: 4 }));
    const edges = [[1, 3], [3, 4], [2, 4], [4, 5], [3, 5]].map(([from, to]) => ({ from, to }));
    const graph = { tensors, edges, root: 5 }, tree = treeOf(graph), { boxes, boxOf } = boxesOf(tree, new Set());
    const open = boxesOf(tree, new Set(["m"]));
    const cyclic = layersOf([{ key: "a" }, { key: "b" }], [{ from: "a", to: "b" }, { from: "b", to: "a" }], "a").map((layer) => layer.map((box) => box.key));
    return { modules: [...modulesOf(graph)].map(([id, path]) => `${id} ${path.join(".")}`).sort(), boxes: boxes.map((box) => box.key), at: boxOf.get(3),
             open: open.boxes.map((box) => box.key), edges: edgesOf(edges, open.boxOf), cyclic };
  });
  check("operations belong to the module of their weights", folded.modules.join() === "1 m.a,2 m.b,3 m.a,4 m.b,5 " && folded.boxes.join() === "#5,m" &&
        folded.at === "m" && folded.open.join() === "#5,m.a,m.b", JSON.stringify(folded));
  check("modules that use each other are laid out, too", folded.cyclic.flat().sort().join() === "a,b", JSON.stringify(folded.cyclic));
}

async function findings(page) {
  await say(page, "tensor doctor --seconds 1 --json");
  await page.waitForSelector('[data-tab="findings"].news');
  check("what the doctor finds for others is shown, and said", (await page.locator("#findings article").count()) > 0);
  await page.click('[data-tab="findings"]');
  check("once it is seen it is no news", (await page.locator(".news").count()) === 0);
  await page.press('[data-tab="findings"]', "ArrowRight");
  check("arrows go from tab to tab", await page.locator("#tab-memory").isVisible());
}

async function memory(page) {
  await page.click('[data-tab="memory"]');
  await page.waitForFunction(() => /\d+ allocations and releases/.test(document.getElementById("memory").textContent));
  const chart = page.locator("canvas.chart");
  await chart.scrollIntoViewIfNeeded();
  const box = await chart.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.waitForFunction(() => /in use after (de)?alloc .* s, event \d+$/.test(document.querySelector("#memory .told").textContent));
  check("memory at each allocation, with what was allocated", true);
  await chart.focus();
  const before = await page.textContent("#memory .told");
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction((old) => document.querySelector("#memory .told").textContent !== old, before);
  check("the arrows go from point to point", true);
  const columns = await page.evaluate(async () => {
    const { columnsOf } = await import("/chart.js");
    const list = Array.from({ length: 100000 }, (_, i) => ({ at: i, active: i === 54321 ? 1e9 : i % 7 }));
    const whole = columnsOf(list, [0, 99999], 500), part = columnsOf(list, [10, 12], 500);
    return { n: whole.length, most: Math.max(...whole.map((c) => c?.high ?? 0)), part: part.filter(Boolean).length };
  });
  check("of many points as many are drawn as there are pixels, and none of the peaks is lost", columns.n === 500 && columns.most === 1e9 && columns.part <= 4,
        JSON.stringify(columns));
}

async function many(browser, complaints) {
  const { server, url } = serve("--", loop, "many", "0");
  const page = await open(browser, await url, complaints);
  await state(page, "loaded");
  await say(page, "break when_many");
  await page.waitForSelector("#breakpoints li");
  await page.locator("#source").focus();
  await page.keyboard.press("c");
  await state(page, "paused");
  await page.waitForFunction(() => Number(document.getElementById("total").textContent) >= 10000);
  const rows = await page.locator(".tensor").count();
  check("ten thousand tensors: those in sight are in the document", rows > 5 && rows < 120, rows);
  await page.$eval("#tensors", (list) => { list.scrollTop = list.scrollHeight; });
  await page.waitForFunction(() => [...document.querySelectorAll(".tensor")].some((row) => /many\.9999/.test(row.textContent)));
  check("their end is reached by scrolling", true);
  await page.fill("#search", "many.777 ");
  await page.waitForFunction(() => /of 1\d{4}/.test(document.getElementById("total").textContent));
  check("they are searched", (await page.textContent(".tensor")).includes("many.777"));
  await page.close();
  server.kill();
}

(async () => {
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  const complaints = [], core = path.join(folder, "core.photo");
  for (const part of [() => elsewhere(browser, complaints), () => live(browser, complaints, core),
                      () => many(browser, complaints), () => drawings(browser, complaints)])
    await part().catch((error) => check("a session", false, error.stack));
  check("nothing is complained of, and nothing comes from elsewhere", complaints.length === 0, complaints.join("\n"));
  await browser.close();
  fs.rmSync(core, { force: true });
  console.log(`${counts.passed} passed, ${counts.failed} failed, 0 skipped`);
  process.exit(counts.failed ? 1 : 0);
})();
