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
  page.setDefaultTimeout(20000);
  await page.goto(url);
  return page;
}

const state = (page, text) => page.waitForFunction((wanted) => document.getElementById("state").textContent.includes(wanted), text);

async function say(page, line) {
  await page.click('[data-tab="console"]');
  await page.fill("#command input", line);
  await page.press("#command input", "Enter");
}

async function pictureIsDrawn(page) {
  await page.waitForFunction(() => document.querySelector("#card img")?.naturalWidth > 1);
  return page.$eval("#card img", (image) => image.naturalWidth);
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
  const image = page.locator("#card img");
  await image.hover({ position: { x: 5, y: 5 } });
  await page.waitForFunction(() => /\] = [\d.]+$/.test(document.querySelector("#card p").textContent));
  check("the value under the pointer", true);
  const before = await image.getAttribute("alt");
  await image.click({ position: { x: 40, y: 40 } });
  await page.waitForFunction((old) => document.querySelector("#card img")?.alt !== old, before);
  check("a click zooms", true);
  await page.waitForSelector("#card svg .box");
  check("the graph is drawn", (await page.locator("#card svg .box").count()) > 2);
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
  check("a core cannot go on", await page.locator('[data-do="next"]').isEnabled() === false ||
    await (async () => { await page.click('[data-do="next"]'); await page.waitForFunction(() => /core file cannot run/.test(document.getElementById("log").textContent)); return true; })());
  await page.goto(`${(await url).split("#")[0]}docs`);
  await page.waitForSelector("#routes section");
  check("the requests are described", (await page.locator("#routes section").count()) > 30);
  await page.close();
  server.kill();
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
  for (const part of [() => live(browser, complaints, core), () => many(browser, complaints)])
    await part().catch((error) => check("a session", false, error.stack));
  check("nothing is complained of, and nothing comes from elsewhere", complaints.length === 0, complaints.join("\n"));
  await browser.close();
  fs.rmSync(core, { force: true });
  console.log(`${counts.passed} passed, ${counts.failed} failed, 0 skipped`);
  process.exit(counts.failed ? 1 : 0);
})();
