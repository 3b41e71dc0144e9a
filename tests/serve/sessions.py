"""Sessions, from outside: HTTP, curl, MCP, signals. Called by tests/serve/run with a folder, and the names of cases."""

import contextlib
import glob
import http.client
import json
import os
import pty
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from urllib.parse import quote

WORK = sys.argv[1]
LAZYBONES = os.environ.get("LAZYBONES") or os.path.join(os.environ["O"], "bin", "lazybones")
LOOP = os.path.join(WORK, "loop")
SOURCE = os.path.realpath("tests/serve/loop.c")
LINES = {mark: n for n, text in enumerate(open(SOURCE), 1) for mark in re.findall(r"/\* (\w[\w ]*) \*/$", text)}
counts = {"passed": 0, "failed": 0, "skipped": 0}


def check(what, ok, seen=None):
    counts["passed" if ok else "failed"] += 1
    print(f"ok: {what}" if ok else f"FAILED: {what}: {str(seen)[:1500]}", flush=True)
    return ok


def wait_until(true, seconds=20):
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


class Server:
    """lazybones serve, at a free port, in a folder of its own."""

    def __init__(self, *arguments, token=False, folder=None, environment=None):
        self.folder = folder or os.path.join(WORK, f"server-{time.monotonic_ns()}")
        os.makedirs(self.folder, exist_ok=True)
        options = ["--port", "0"] + ([] if token else ["--no-token"])
        self.process = subprocess.Popen([LAZYBONES, "serve", *options, *arguments], cwd=self.folder,
                                        env=dict(os.environ, **(environment or {})), stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        first = self.process.stdout.readline()
        if not first:
            raise RuntimeError(self.process.stderr.read())
        self.port = int(re.match(r"http://[^/]*:(\d+)/", first).group(1))
        self.token = first.strip().partition("#token=")[2]

    def ask(self, method, path, body=None, headers=None, raw=False):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=90)
        headers = {"Content-Type": "application/json"} | (headers or {})
        if self.token and "Authorization" not in headers:
            headers["Authorization"] = f"Bearer {self.token}"
        connection.request(method, path, json.dumps(body) if isinstance(body, (dict, list)) else body, headers)
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        return (answer.status, data) if raw else (answer.status, json.loads(data))

    def post(self, path, **body):
        return self.ask("POST", path, body)

    def get(self, path):
        return self.ask("GET", path)

    def data(self, method, path, **body):
        """What a request that works answers."""
        status, answer = self.ask(method, path, body or None)
        if status != 200:
            raise AssertionError(f"{method} {path} {body}: {status} {answer}")
        return answer["data"]

    def paused(self, state="paused"):
        status = self.data("GET", "/debug/status?wait=20")
        return status if status["state"] == state else check(f"the program is {state}", False, status) and {}

    def at(self, mark, **start):
        """A session that stands at that line."""
        told = self.data("POST", "/debug/start", **({"program": LOOP} | start))
        self.data("POST", "/debug/breakpoint", file_path=SOURCE, line=LINES[mark])
        self.data("POST", "/debug/continue_async")
        self.paused()
        return told["session"]

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.wait(30)

    def traces(self):
        return sorted(glob.glob(os.path.join(self.folder, "traces", "*.json")))


@contextlib.contextmanager
def server(*arguments, **options):
    made = Server(*arguments, **options)
    try:
        yield made
    finally:
        if made.process.poll() is None:
            made.stop()


def parent_of(pid):
    return int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1])


def children_of(pid):
    found = []
    for one in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if int(open(f"/proc/{one}/stat").read().rpartition(")")[2].split()[1]) == pid:
                found.append(int(one))
    return found


def is_alive(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


# ---- cases ----


def case_curl():
    """The lines of the seed of this server, as people type them."""
    with server() as s:
        script = f"""
            set -e
            U=http://localhost:{s.port}
            curl -sf -X POST $U/debug/start -H "Content-Type: application/json" -d '{{"script_path": "{LOOP}"}}'
            curl -sf -X POST $U/debug/breakpoint -H "Content-Type: application/json" \\
                -d '{{"file_path": "{SOURCE}", "line": {LINES["told"]}}}'
            curl -sf -X POST $U/debug/continue_async
            for i in $(seq 100); do
                STATUS=$(curl -sf $U/debug/status | /usr/bin/python3 -c 'import json,sys; print(json.load(sys.stdin)["data"]["state"])')
                [ "$STATUS" = paused ] && break
                sleep 0.1
            done
            echo "state: $STATUS"
            curl -sf $U/debug/location
            curl -sf -X POST $U/debug/evaluate -H "Content-Type: application/json" -d '{{"expression": "latents.shape"}}'
            curl -sf -X POST $U/debug/evaluate -H "Content-Type: application/json" -d '{{"expression": "latents.dtype"}}'
            curl -sf -X POST $U/debug/step/over
            curl -sf -X POST $U/debug/step/into
            curl -sf -X POST $U/debug/step/out
            curl -sf $U/debug/variables
            curl -sf $U/debug/breakpoints
            curl -sf -X POST $U/debug/breakpoint/remove -H "Content-Type: application/json" \\
                -d '{{"file_path": "{SOURCE}", "line": {LINES["told"]}}}'
            curl -sf -X POST $U/debug/breakpoints/clear
            curl -sf -X POST $U/debug/continue_async
            curl -sf "$U/debug/status?wait=10"
            curl -sf -X POST $U/debug/terminate
        """
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=120)
        check("curl: every line works", done.returncode == 0, done.stdout + done.stderr)
        check("curl: it pauses", "state: paused" in done.stdout, done.stdout)
        check("curl: where it stands", f'"line":{LINES["told"]}' in done.stdout, done.stdout)
        check("curl: the shape of latents", '"value":"[1, 256, 64]"' in done.stdout, done.stdout)
        check("curl: its end", '"exit_code":7' in done.stdout, done.stdout)
        traces = s.traces()
        check("curl: a trace under the program's name", len(traces) == 1 and
              re.fullmatch(r"loop_\d{8}_\d{6}\.json", os.path.basename(traces[0])), traces)
        kinds = [r["kind"] for r in json.load(open(traces[0]))["records"]]
        check("curl: the trace has stops and requests", "stop" in kinds and kinds[-1] == "terminated", kinds)


def case_states():
    with server() as s:
        check("no session: 404", s.get("/debug/status")[0] == 404)
        told = s.data("POST", "/debug/start", program=LOOP, args=["for_ever"], env={"GREETING": "there"})
        check("start answers at once", told["state"] == "not_started", told)
        check("nothing to look at yet: 409", s.get("/debug/location")[0] == 409)
        s.data("POST", "/debug/continue_async")
        wait_until(lambda: "step 2" in s.data("GET", "/debug/output")["text"])
        check("its environment", "hello there" in s.data("GET", "/debug/output")["text"])
        status, answer = s.get("/debug/location")
        check("while it runs: 409, since when", status == 409 and re.search(r"runs, since \d+\.\d s", answer["error"]), answer)
        check("pause", s.data("POST", "/debug/pause")["state"] == "paused")
        check("pause, again: 409", s.post("/debug/pause")[0] == 409)
        check("paused in the program's own frame", s.data("GET", "/debug/location")["function"] == "main")
        s.data("POST", "/debug/continue_async")
        check("a step without an end is told", s.data("POST", "/debug/pause")["state"] == "paused")
        child = s.data("GET", "/debug/status")["pid"]
        s.data("POST", "/debug/terminate")
        check("terminate ends the program", wait_until(lambda: not is_alive(child)))
        check("and the session", s.get("/debug/status")[0] == 404)
        s.data("POST", "/debug/start", program=LOOP, args=["fault"])
        s.data("POST", "/debug/continue_async")
        told = s.paused()
        check("a fault is a stop", told["stop"].get("signal") == "SIGSEGV", told)
        s.data("POST", "/debug/continue_async")
        told = s.paused("exited")
        check("and the end of the program", told["stop"].get("signal") == "SIGSEGV", told)
        status, answer = s.post("/debug/step/over")
        check("but by no step", status == 409 and "continue_async" in answer["error"], answer)
        s.data("POST", "/debug/continue_async")
        check("which can run again", s.paused()["stop"].get("signal") == "SIGSEGV")


def case_steps():
    with server() as s:
        s.at("step")
        told = s.data("POST", "/debug/step/into")
        check("into a function of its own", told["location"]["function"] == "scaled", told)
        told = s.data("POST", "/debug/step/into")
        check("not into the library", told["location"]["function"] == "scaled" and
              told["location"]["line"] == LINES["in scaled"] + 1, told)
        told = s.data("POST", "/debug/step/out")
        check("out", told["location"]["function"] == "denoise", told)
        told = s.data("POST", "/debug/step/over")
        check("over", told["location"]["line"] == LINES["step"] + 1, told)
        source = told["location"]["source"]
        check("the lines around", source["lines"][told["location"]["line"] - source["first"]].strip().startswith("lb_named"))
        frames = s.data("GET", "/debug/stack")["frames"]
        check("the stack", [f["function"] for f in frames][:2] == ["denoise", "main"], frames)
        told = s.data("POST", "/debug/select", level=1)
        check("select a frame", told["function"] == "main", told)
        names = {v["name"]: v for v in s.data("GET", "/debug/variables")["variables"]}
        check("its variables", names["steps"]["value"] == "3" and names["argc"]["is_argument"], names)
        threads = s.data("GET", "/debug/threads")
        check("threads", threads["current"] == 1 and threads["threads"][0]["id"] == 1, threads)
        told = s.data("POST", "/debug/skips")
        check("what steps pass over", "^_*lb_" in told["text"] and re.search(r"^\d+ +y", told["text"], re.M), told)
        told = s.data("POST", "/debug/skips", on=False)
        check("it can be switched off", re.search(r"^\d+ +n", told["text"], re.M) and not re.search(r"^\d+ +y", told["text"], re.M), told)
        told = s.data("GET", f"/source?file_path={quote(SOURCE)}&first={LINES['step']}&count=1")
        check("lines of a source", told["lines"][0].endswith("/* step */"), told)
        check("no source", s.get("/source?file_path=/nonexistent.c")[0] == 404)
        check("an unknown frame is refused", s.post("/debug/select", level=99)[0] == 422)
        status, answer = s.post("/debug/select", level=-1)
        check("so is one below the innermost", status == 400 and "level" in answer["error"], answer)
        status, answer = s.post("/command", command="frame 0", timeout=-1)
        check("a time that is negative", status == 400 and "'timeout' is negative" in answer["error"], answer)
        check("what gdb does not know", s.post("/command", command="nonsense")[0] == 422)
        check("arguments are a list", s.post("/debug/start", program=LOOP, args="x")[0] == 400)


def case_breakpoints():
    with server() as s:
        s.data("POST", "/debug/start", program=LOOP)
        link = os.path.join(s.folder, "linked.c")
        os.symlink(SOURCE, link)
        told = s.data("POST", "/debug/breakpoint", file_path=link, line=LINES["told"])
        check("through a link", told["line"] == LINES["told"] and not told["pending"], told)
        relative = os.path.relpath(SOURCE, s.folder)
        told = s.data("POST", "/debug/breakpoint", file_path=relative, line=LINES["step"], condition="i == 1")
        check("a relative path, a condition", told["condition"] == "i == 1", told)
        status, answer = s.post("/debug/breakpoint", file_path=SOURCE, line=9999)
        check("no code there: the nearest lines", status == 422 and "nearest lines with code" in answer["error"], answer)
        check("no such file", s.post("/debug/breakpoint", file_path="/nonexistent/x.c", line=3)[0] == 404)
        status, answer = s.post("/debug/breakpoint", file_path="/tmp/x.py", line=3)
        check("a line of Python: what to do instead", status == 400 and "/debug/catch" in answer["error"], answer)
        told = s.data("POST", "/debug/breakpoint", function="lb_softmax")
        check("a function of a library that is not there yet", told["pending"], told)
        told = s.data("POST", "/debug/breakpoint", function="main", temporary=True)
        check("temporary", told["temporary"], told)
        check("listed", len(s.data("GET", "/debug/breakpoints")["breakpoints"]) == 4)
        s.data("POST", "/debug/continue_async")
        check("at main", s.paused()["location"]["function"] == "main")
        check("which is gone then", len(s.data("GET", "/debug/breakpoints")["breakpoints"]) == 3)
        told = s.data("POST", "/debug/breakpoint/remove", file_path=relative, line=LINES["told"])
        s.data("POST", "/debug/continue_async")
        check("by the condition", s.paused()["location"]["line"] == LINES["step"])
        check("i is 1", s.data("POST", "/debug/evaluate", expression="i")["value"] == "1")
        check("clear", s.data("POST", "/debug/breakpoints/clear")["removed"] >= 2)
        check("none are left", s.data("GET", "/debug/breakpoints")["breakpoints"] == [])
        check("an unknown one", s.post("/debug/breakpoint/remove", id=77)[0] >= 400)
        told = s.data("POST", "/debug/breakpoint", file_path=SOURCE, line=LINES["no code"])
        check("a line without code: the next that has some", told["line"] > LINES["no code"], told)
        again = s.data("POST", "/debug/breakpoint/remove", file_path=SOURCE, line=LINES["no code"])
        check("is removed as it was set", again["removed"] == told["id"], again)
        status, told = s.post("/debug/breakpoint", file_path=SOURCE, line=LINES["between functions"])
        check("between functions: the next, or the nearest lines", told["data"]["line"] > LINES["between functions"]
              if status == 200 else status == 422 and f", {LINES['between functions'] + 2}," in told["error"], told)
        told = s.data("POST", "/debug/breakpoint", file_path="loop.c", line=LINES["told"])
        status, answer = s.post("/debug/breakpoint/remove", file_path="p.c", line=LINES["told"])
        check("a file that only ends alike", status == 404, answer)
        again = s.data("POST", "/debug/breakpoint/remove", file_path="loop.c", line=LINES["told"])
        check("so is one by the name of its file", again["removed"] == told["id"], again)


def case_tensors():
    with server() as s:
        s.at("told", args=["lazy"])
        told = s.data("GET", "/tensors")
        check("tensors", {"latents", "next"} <= {t["name"] for t in told["tensors"]}, told)
        told = s.data("GET", "/tensors?glob=nex*&limit=1")
        check("by name", told["total"] == 1 and told["tensors"][0]["state"] == "lazy", told)
        told = s.data("GET", "/tensors?limit=1&from=1&sort=id")
        check("a page", len(told["tensors"]) == 1 and told["total"] > 2, told)
        told = s.data("GET", "/tensors/next")
        check("one", told["shape"] == [1, 256, 64] and told["op"] == "multiply", told)
        check("by number", s.data("GET", f"/tensors/{told['id']}")["name"] == "next")
        told = s.data("GET", "/tensors/next/values?slice=" + quote("0,:2,:3"))
        check("values of what is lazy", told["values"] == [[2, 2, 2], [2, 2, 2]] and "outside" in told["note"], told)
        told = s.data("GET", "/tensors/next/stats")
        check("its statistics", told["mean"] == 2 and told["count"] == 16384, told)
        status, data = s.ask("GET", "/tensors/next/image.png", raw=True)
        status, data = s.ask("GET", f"/tensors/{told['id']}/image.png?slice=0,:8", raw=True)
        check("a picture of a slice, by number", status == 200 and data.startswith(b"\x89PNG"), (status, data[:200]))
        status, data = s.ask("GET", "/tensors/next/image.png", raw=True)
        check("a picture", status == 200 and data.startswith(b"\x89PNG"), (status, data[:200]))
        if shutil.which("dot"):
            status, data = s.ask("GET", "/tensors/next/graph.svg", raw=True)
            check("a drawing of the graph", status == 200 and b"<svg" in data, (status, data[:200]))
        else:
            counts["skipped"] += 1
            print("skip: no dot (graphviz): graph.svg")
            status, answer = s.ask("GET", "/tensors/next/graph.svg")
            check("what takes the place of dot", status == 422 and "graphviz; without it the command graph writes" in answer["error"],
                  answer)
            dot = os.path.join(s.folder, "next.dot")
            s.data("POST", "/command", command=f"tensor graph next --dot {dot}")
            check("it does", open(dot).read().startswith("digraph"))
        for path in ("/tensors?glob=x%5B", "/diff?a=x%5B0&b=next", "/doctor?glob=x%5B&seconds=1"):
            status, answer = s.get(path)
            check(f"an open bracket: {path}", status in (200, 422), (status, answer))
        status, answer = s.get("/tensors/nothing")
        check("an unknown one", status == 422 and "no tensor 'nothing'" in answer["error"], answer)
        told = s.data("GET", "/diff?a=next&b=latents")
        check("a difference", told["verdict"] == "broken" and told["max_error"] == 1, told)
        check("the doctor", "checked" in s.data("GET", "/doctor?seconds=1"))
        names = {v["name"]: v for v in s.data("GET", "/debug/variables")["variables"]}
        check("variables that hold tensors", names["next"]["tensor"]["name"] == "next", names)
        for expression, value in [("next.shape", "[1, 256, 64]"), ("next.mean()", "2.0"), ("next.dtype", "float32"),
                                  ("steps * 2", "6"), ("latents.ndim", "3"),
                                  ("abs(next - latents).max()", "1.0"), ("(next > 1).sum()", "16384"),
                                  ("latents.T.shape", "[64, 256, 1]"), ("next * 2 - 1", "float32[1, 256, 64], computed")]:
            told = s.data("POST", "/debug/evaluate", expression=expression)
            check(f"evaluate {expression}", told["value"] == value, told)
        told = s.data("POST", "/debug/evaluate", expression="next[0,0,:2]")
        check("evaluate a slice of what is lazy", told["computed_outside"] and told["print"]["values"] == [2, 2], told)
        status, answer = s.post("/debug/evaluate", expression="next @ nobody")
        check("an expression that makes no sense", status == 422 and "^" in answer["error"] and "nobody" in answer["error"], answer)
        counted = [s.data("POST", "/debug/evaluate", expression=e)["value"]
                   for e in ("steps += 10", "steps++", "i = 7", "steps", "i")]
        check("what assigns does so once", counted == ["13", "13", "7", "14", "7"], counted)
        status, answer = s.post("/command", command="tensor info scaled(latents,2) --json")
        check("nothing is called", status == 422 and "would call the program" in answer["error"], answer)
        check("evaluate nonsense", s.post("/debug/evaluate", expression="nonsense +")[0] == 422)
        check("two lines are refused", s.post("/debug/evaluate", expression="1\nshell id")[0] == 400)
        check("the program has not changed", s.data("GET", "/tensors/next")["state"] == "lazy")
        told = s.data("POST", "/command", command="info threads")
        check("a command of gdb", "Thread" in told["text"], told)
        told = s.data("POST", "/command", command="tensor info next --json")
        check("one of ours, as JSON", told["name"] == "next", told)
        check("one that fails", s.post("/command", command="tensor info nothing --json")[0] == 422)
        status, answer = s.post("/command", command="tensor info nothing")
        check("one that fails without JSON", status == 422 and "no tensor 'nothing'" in answer["error"], answer)
        told = s.data("POST", "/command", command="info args")
        check("which is not said of the next", "steps = " in told["text"], told)


def case_namesakes():
    """Of several tensors of a name that one is meant which the variable holds now."""
    with server() as s:
        s.at("told", args=["x", "9"])
        for _ in range(3):
            s.data("POST", "/debug/continue_async")
            s.paused()
        held = {v["name"]: v["tensor"] for v in s.data("GET", "/debug/variables")["variables"] if "tensor" in v}
        check("namesakes", held["next"]["name"] == held["latents"]["name"] == "next" and
              held["next"]["id"] != held["latents"]["id"], held)
        told = s.data("GET", "/tensors/next")
        check("the variable's", told["id"] == held["next"]["id"] and "variable" in told["chosen"][0]["why"], told)
        told = s.data("GET", "/tensors/latents")
        check("a name comes before a variable, which is told", told["name"] == "latents" and "the variable" in told["chosen"][0]["why"], told)
        told = s.data("GET", "/tensors/(latents)")
        check("which brackets mean", told["id"] == held["latents"]["id"] and "chosen" not in told, told)
        s.data("POST", "/command", command="set var next = 0")
        told = s.data("GET", "/tensors/next")
        check("where the variable is null", told["name"] == "next" and "variable" not in told["chosen"][0]["why"], told)
        s.data("POST", "/debug/evaluate", expression="next = latents")
        told = s.data("GET", "/tensors/next")
        check("after it was assigned", told["id"] == held["latents"]["id"], told)
        s.data("POST", "/debug/continue_async")
        s.paused()
        told = s.data("GET", "/tensors/next")
        check("at the next stop", told["id"] > held["next"]["id"], told)
        s.data("POST", "/debug/select", level=1)
        told = s.data("GET", "/tensors/next")
        check("in a frame that has no such variable", "variable" not in told["chosen"][0]["why"], told)


def case_shadowed():
    """Variables of a name in nested blocks: each has its own tensor, also in a trace that is laid beside another."""
    with server() as s:
        traces = []
        for _ in range(2):
            s.data("POST", "/debug/start", program=LOOP, args=["shadow", "0"])
            s.data("POST", "/debug/breakpoint", file_path=SOURCE, line=LINES["shadowed"])
            s.data("POST", "/debug/continue_async")
            s.paused()
            held = [v["tensor"]["name"] for v in s.data("GET", "/debug/variables")["variables"] if v["name"] == "x"]
            check("each of a name has its own tensor", held == ["innermost", "inner", "outer"], held)
            for expression in ["null.shape", "null + 1", "null[0]", "null.mean()"]:
                status, answer = s.post("/debug/evaluate", expression=expression)
                check(f"of what is NULL: {expression}", status == 422 and "'null' is a NULL tensor" in answer["error"], answer)
            for expression, place in [("l[1].w + 1", "l[1].w"), ("l[1].w[0]", "l[1].w"), ("k[1] + 1", "k[1]")]:
                status, answer = s.post("/debug/evaluate", expression=expression)
                check(f"of what is NULL: {expression}",
                      status == 422 and f"'{place}' is a NULL tensor" in answer["error"], answer)
            for expression in ["k + 1", "&l[1]", "l[1].w == 0", "sizeof(l)"]:
                status, answer = s.post("/debug/evaluate", expression=expression)
                check(f"but {expression} is C's", status == 200 and answer["data"]["kind"] == "value", answer)
            for expression in ["wild[0]", "wild - 1"]:
                status, answer = s.post("/debug/evaluate", expression=expression)
                check(f"of what is wild: {expression}", status == 422 and "0x4141414141 is not a tensor" in answer["error"], answer)
            for expression, value in [("null", "0x0"), ("null == 0", "1")]:
                told = s.data("POST", "/debug/evaluate", expression=expression)
                check(f"but {expression} is said", told["value"].endswith(value), told)
            traces.append(os.path.join(s.folder, s.data("POST", "/debug/terminate")["trace"]))
        for other in traces:
            done = subprocess.run([LAZYBONES, "trace-diff", traces[0], other], capture_output=True, text=True, timeout=60)
            check("a trace is as its like", done.returncode == 0 and "0 of 1 pair differ" in done.stdout, done)


def case_catch():
    with server() as s:
        s.data("POST", "/debug/start", program=LOOP, args=["nan"])
        s.data("POST", "/debug/catch", event="nan")
        s.data("POST", "/debug/continue_async")
        told = s.paused()
        check("a NaN stops the program, in its own frame", told["location"]["function"] == "main", told)
        told = s.data("GET", "/tensors/bad/stats")
        check("with the value at hand", told["nan"]["count"] == 4, told)
        check("an unknown event", s.post("/debug/catch", event="nonsense")[0] >= 400)
        told = s.data("POST", "/debug/graph/step", how="on")
        check("steps of the graph", told["state"] == "paused", told)
        check("how is checked", s.post("/debug/graph/step", how="; shell id")[0] == 400)
        check("one that there is not", s.post("/debug/graph/step", how="next")[0] == 422)
        s.at("told")
        s.data("POST", "/debug/breakpoints/clear")
        s.data("POST", "/debug/graph/step", how="on")
        told = s.data("POST", "/debug/graph/step", how="in", wait=60)
        check("`in` is answered when it has ended", told["state"] == "paused" and "location" in told, told)


def case_events():
    with server() as s:
        s.data("POST", "/debug/start", program=LOOP)
        s.data("POST", "/debug/breakpoint", function="denoise")
        seen = []

        def listen(headers, enough):
            connection = http.client.HTTPConnection("127.0.0.1", s.port, timeout=30)
            connection.request("GET", "/events", headers=headers)
            answer, event = connection.getresponse(), {}
            check("events are a stream", answer.getheader("Content-Type").startswith("text/event-stream"))
            while line := answer.readline().decode():
                key, _, value = line.rstrip("\n").partition(": ")
                if line == "\n" and event.get("event"):
                    seen.append(event)
                    event = {}
                    if enough(seen):
                        break
                elif key:
                    event[key] = value
            connection.close()

        thread = threading.Thread(target=listen, args=({}, lambda e: e[-1]["event"] == "exited"))
        thread.start()
        s.data("POST", "/debug/continue_async")
        s.paused()
        s.data("POST", "/debug/continue_async")
        thread.join(30)
        types = [e["event"] for e in seen]
        check("what happened, in order", [t for t in types if t in ("running", "stopped", "exited")] ==
              ["running", "stopped", "running", "exited"], types)
        check("output, too", "step 2" in "".join(json.loads(e["data"]).get("text", "") for e in seen))
        stop = next(e for e in seen if e["event"] == "stopped")
        check("a stop says where", json.loads(stop["data"])["location"]["function"] == "denoise", stop)
        before, last = len(seen), seen[-2]["id"]
        listen({"Last-Event-ID": last}, lambda e: True)
        check("who was away goes on", seen[before]["event"] == "exited", seen[before:])


class Events:
    """The events of some types, as they come."""

    def __init__(self, s, types):
        self.seen = []
        self.connection = http.client.HTTPConnection("127.0.0.1", s.port, timeout=30)
        self.connection.request("GET", f"/events?types={types}")
        self.answer = self.connection.getresponse()
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        event = {}
        with contextlib.suppress(OSError, ValueError, AttributeError, http.client.HTTPException):
            while line := self.answer.readline().decode():
                key, _, value = line.rstrip("\n").partition(": ")
                if line == "\n" and event.get("event"):
                    self.seen.append((event["event"], json.loads(event["data"])))
                    event = {}
                elif key:
                    event[key] = value

    def next(self):
        """The data of the next one, or None."""
        return self.seen.pop(0)[1] if wait_until(lambda: self.seen) else None

    def stop(self):
        self.connection.sock.shutdown(socket.SHUT_RDWR)
        self.connection.close()
        self.thread.join(10)


def case_news():
    """Tensors that are born and gone, and findings, for those who listen for them."""
    with server("--no-trace") as s:
        s.at("step")
        check("types that there are not: 400", s.get("/events?types=stopped,nothing")[0] == 400 and s.get("/events?types=")[0] == 400)
        events = Events(s, "tensors")
        first = events.next()
        check("the first time their number alone", first["total"] >= 1 and "born" not in first, first)
        s.data("POST", "/debug/step/over")
        told = events.next()
        born = {t["op"]: t for t in told["born"]}
        check("born since the last stop", born.get("multiply", {}).get("shape") == [1, 256, 64] and
              told["total"] == first["total"] + len(told["born"]) and not told["gone"], told)
        s.data("POST", "/debug/breakpoints/clear")
        s.data("POST", "/debug/breakpoint", file_path=SOURCE, line=LINES["end"])
        s.data("POST", "/debug/continue_async")
        s.paused()
        told = events.next()
        check("gone since the last stop", {"latents"} <= {t["name"] for t in told["gone"]} and not told["more_gone"], told)
        events.stop()
    with server("--no-trace") as s:
        s.data("POST", "/debug/start", program=LOOP, args=["many", "0"])
        s.data("POST", "/debug/breakpoint", function="make_many")
        s.data("POST", "/debug/continue_async")
        s.paused()
        events = Events(s, "tensors")
        check("none yet", events.next()["total"] == 0)
        s.data("POST", "/debug/breakpoint", function="when_many")
        s.data("POST", "/debug/continue_async")
        s.paused()
        told = events.next()
        check("of many the first are told, and how many more", len(told["born"]) == 100 and
              told["born"][99]["name"] == "many.99" and told["more_born"] == told["total"] - 100 >= 9900, told)
        events.stop()
    with server("--no-trace") as s:
        s.at("end", args=["nan", "0"])
        events = Events(s, "findings")
        found = s.data("GET", "/doctor")["findings"]
        told = events.next()
        check("what the doctor finds, whoever asks", found and told["findings"] == found, (found, told))
        s.data("POST", "/command", command="tensor doctor --json")
        time.sleep(0.3)
        check("is told once", events.seen == [], events.seen)
        events.stop()


def case_core():
    with server() as s:
        s.at("told", args=["lazy"])
        core = os.path.join(s.folder, "core.loop")
        s.data("POST", "/command", command=f"gcore {core}")
        s.data("POST", "/debug/terminate")
        told = s.data("POST", "/debug/start", core=core)
        check("a core is paused", told["state"] == "paused" and told["kind"] == "core", told)
        check("in the program's own frame", told["location"]["function"] == "denoise", told)
        check("nothing to warn of", "warning" not in told, told)
        check("its tensors", s.data("GET", "/tensors/next/values?slice=0,0,:2")["values"] == [2, 2])
        status, answer = s.post("/debug/continue_async")
        check("it cannot run", status == 409 and "core" in answer["error"], answer)
        with open(os.path.join(s.folder, "cut"), "wb") as cut:
            cut.write(open(core, "rb").read(5000))
        status, answer = s.post("/debug/start", core=os.path.join(s.folder, "cut"))
        check("a core that is cut", status in (200, 422), answer)
        status, answer = s.post("/debug/start", core=LOOP)
        check("a program is no core", status == 400 and "no core file" in answer["error"], answer)
        blank = os.path.join(s.folder, "a core's \\ \"folder\"")
        os.mkdir(blank)
        shutil.copy(core, blank)
        told = s.data("POST", "/debug/start", core=os.path.join(blank, "core.loop"))
        check("a core in a folder with blanks and quotes", told["state"] == "paused", told)
        told = s.data("POST", "/debug/start", core=core, program=os.path.join(WORK, "billion"))
        check("a core with another program", "billion" in told["warning"] and "build id" in told["warning"], told)
        s.data("POST", "/debug/terminate")
        moved = os.path.join(s.folder, "moved")
        shutil.copy(LOOP, moved)
        s.at("told", program=moved, args=["lazy"])
        s.data("POST", "/command", command=f"gcore {core}.moved")
        s.data("POST", "/debug/terminate")
        os.rename(moved, moved + ".away")
        s.data("POST", "/debug/start", core=core + ".moved")
        told = s.data("GET", "/debug/status")
        check("a core without its program", "moved, is missing, its build id is " in told["warning"] and
              "`program` says where it is now" in told["warning"], told)
        told = s.data("POST", "/debug/start", core=core + ".moved", program=moved + ".away")
        check("its program, where it is now", "warning" not in told, told)
    with server("--core", core) as s:
        check("begun with a core", s.data("GET", "/debug/status")["state"] == "paused")


def case_arguments():
    """A program gets its arguments as they are, wherever a shell or gdb would read something into them."""
    odd = ["a b", "", "$HOME `id` *", "\"'\\", "two\nlines", "tab\there", "~!#;&|<>(){}[]?^", "é"]
    with server() as s:
        s.data("POST", "/debug/start", program=shutil.which("printf"), args=["[%s]"] + odd, cwd="/")
        s.data("POST", "/debug/continue_async")
        s.data("GET", "/debug/status?wait=20")
        told = s.data("GET", "/debug/output")["text"]
        check("odd arguments", told.replace("\r\n", "\n") == "".join(f"[{a}]" for a in odd), told)


def case_input():
    """What a program reads is a file that gdb is told of, or never comes."""
    with server() as s:
        given = os.path.join(s.folder, "input.txt")
        with open(given, "w") as file:
            file.write("what it reads")
        s.data("POST", "/debug/start", program=shutil.which("cat"))
        s.data("POST", "/command", command=f"set args - < {given}")
        s.data("POST", "/debug/continue_async")
        s.paused("exited")
        check("a program's input", s.data("GET", "/debug/output")["text"] == "what it reads", s.data("GET", "/debug/output"))
        s.data("POST", "/debug/start", program=shutil.which("cat"))
        s.data("POST", "/debug/continue_async")
        told = s.data("POST", "/debug/pause")
        check("one that waits for it can be stopped", told["state"] == "paused", told)


def case_spare():
    """A gdb is ready before it is needed; one that has died is no trouble, and none is left."""
    def gdbs(s):
        return [c for c in children_of(s.process.pid) if open(f"/proc/{c}/comm").read() == "gdb\n"]

    with server() as s:
        check("one is ready", wait_until(lambda: gdbs(s)))
        os.kill(gdbs(s)[0], signal.SIGKILL)
        s.at("told")
        check("it had died", s.data("GET", "/debug/status")["state"] == "paused")
        first = parent_of(s.data("GET", "/debug/status")["pid"])
        check("another is ready", wait_until(lambda: len(gdbs(s)) == 2, 20))
        spare = next(g for g in gdbs(s) if g != first)
        s.data("POST", "/debug/terminate")
        s.at("told")
        check("which is taken", parent_of(s.data("GET", "/debug/status")["pid"]) == spare)
        wait_until(lambda: len(gdbs(s)) == 2, 20)
        left = gdbs(s)
    check("none is left", wait_until(lambda: not any(is_alive(g) for g in left)))


def case_indexes():
    """What gdb has found of a program's symbols is kept for the next start, where that can be."""
    cache = os.path.join(WORK, "indexes")
    os.mkdir(cache)
    for home, says in [(cache, "is on"), (os.path.join(cache, "nowhere"), "is off")]:
        with server(environment={"XDG_CACHE_HOME": home}) as s:
            s.at("told")
            told = s.data("POST", "/command", command="show index-cache enabled")
            check(f"the index cache {says}", says in str(told), told)
    check("there are some", wait_until(lambda: glob.glob(os.path.join(cache, "gdb", "*.gdb-index"))), os.listdir(cache))
    check("there are none elsewhere", not os.path.exists(os.path.join(cache, "nowhere")))


def case_process():
    loop = subprocess.Popen([LOOP, "for_ever"], stdout=subprocess.PIPE, text=True)
    try:
        for line in loop.stdout:
            if line == "step 2\n":
                break
        with server("--pid", str(loop.pid)) as s:
            told = s.data("GET", "/debug/status")
            check("attached", told["state"] == "paused" and told["pid"] == loop.pid, told)
            check("where it stands", told["location"]["function"] == "main", told)
            s.data("POST", "/debug/continue_async")
            check("it goes on", s.data("POST", "/debug/pause")["state"] == "paused")
            s.data("POST", "/debug/terminate")
            check("it lives on", wait_until(lambda: open(f"/proc/{loop.pid}/stat").read().split()[2] in "RS"))
            check("no such process", s.post("/debug/start", pid=2 ** 30)[0] == 404)
    finally:
        loop.kill()
        loop.wait()


def case_several():
    with server("--sessions", "2") as s:
        one = s.at("told")
        two = s.at("step")
        check("two sessions", one != two and len(s.data("GET", "/sessions")["sessions"]) == 2)
        check("the last is meant", s.data("GET", "/debug/location")["line"] == LINES["step"])
        check("another by its number", s.data("GET", f"/debug/location?session={one}")["line"] == LINES["told"])
        status, answer = s.post("/debug/start", program=LOOP)
        check("no more than allowed", status == 503 and "2 sessions" in answer["error"], answer)
        s.data("POST", "/debug/terminate", session=two)
        check("the other is left", s.data("GET", "/debug/status")["session"] == one)
        check("ended ones are gone", s.get(f"/debug/status?session={two}")[0] == 404)
    with server("--idle", "1") as s:
        check("idle sessions stay for a while", s.at("told") == 1 and s.get("/debug/status")[0] == 200)


def case_access():
    with server(token=True) as s:
        check("a token is printed", len(s.token) == 48, s.token)
        check("it opens", s.get("/sessions")[0] == 200)
        status, answer = s.ask("GET", "/sessions", headers={"Authorization": ""})
        check("without it: 401", status == 401 and "Bearer" in answer["error"], answer)
        check("a wrong one: 401", s.ask("GET", "/sessions", headers={"Authorization": "Bearer " + 48 * "0"})[0] == 401)
        check("the page needs none", s.ask("GET", "/", headers={"Authorization": ""}, raw=True)[0] == 200)
        check("a stranger's name for this machine: 403", s.ask("GET", "/", headers={"Host": "evil.example"})[0] == 403)
        check("another site's page: 403", s.ask("GET", "/sessions", headers={"Origin": "http://evil.example"})[0] == 403)
        connection = http.client.HTTPConnection("127.0.0.1", s.port)
        connection.request("GET", "/")
        headers = dict(connection.getresponse().getheaders())
        check("nothing from outside in the page", "default-src 'none'" in headers["Content-Security-Policy"], headers)
        check("nobody else's scripts read it", "Access-Control-Allow-Origin" not in headers, headers)
    done = subprocess.run([LAZYBONES, "serve", "--listen", "0.0.0.0", "--no-token", "--port", "0", "--no-trace"],
                          capture_output=True, text=True, timeout=20)
    check("no token is for this machine alone", done.returncode == 2 and "--no-token" in done.stderr, done)
    with server("--listen", "::1", token=True) as s:
        check("IPv6", s.port > 0)


def case_hostile():
    with server() as s:
        check("a body beyond 1 MiB: 413", s.ask("POST", "/debug/evaluate", "x" * (1 << 20) + "y")[0] == 413)
        check("no JSON: 400", s.ask("POST", "/debug/evaluate", "{")[0] == 400)
        check("no object: 400", s.ask("POST", "/debug/evaluate", "[1]")[0] == 400)
        check("another type: 400", s.ask("POST", "/debug/evaluate", "{}", headers={"Content-Type": "text/plain"})[0] == 400)
        for body, why in [('{"a":1,\n"a":2}', "duplicate object key"), ('{"line":99999999999999999999}', "too big integer"),
                          ('{"expression":"a\\u0000b"}', "u0000"), ('{"expression":', "end of file")]:
            status, answer = s.ask("POST", "/debug/evaluate", body)
            check(f"why it is no JSON: {why}", status == 400 and why in answer["error"] and "column" in answer["error"], answer)
        for path in ["/tensors?glob=%00", "/tensors?glob=a%00b", "/tensors/a%00b"]:
            status, answer = s.get(path)
            check(f"a null character: {path}", status == 400 and "null character" in answer["error"], answer)
        check("no such method", s.ask("DELETE", "/sessions")[0] == 405)
        for junk in [b"\0\0\0\0", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
                     b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", os.urandom(4000)]:
            with contextlib.closing(socket.create_connection(("127.0.0.1", s.port))) as c, contextlib.suppress(OSError):
                c.sendall(junk)
                c.settimeout(1)
                c.recv(100)
        check("junk leaves it be", s.get("/sessions")[0] == 200)
        slow = [socket.create_connection(("127.0.0.1", s.port)) for _ in range(40)]
        for c in slow:
            c.sendall(b"POST /debug/evaluate HTTP/1.1\r\nHost: ")
        check("so do those that never end their request", s.get("/sessions")[0] == 200)
        for c in slow:
            c.close()
        s.data("POST", "/debug/start", program=LOOP, args=["chatter"])
        s.data("POST", "/debug/continue_async")
        s.paused("exited")
        text = s.data("GET", "/debug/output")["text"]
        check("much output: its end is kept", text.endswith("line 19999 of much output\ndone\n") and len(text) <= 262144)
        for name in ["../../etc/passwd", "x' --out /tmp/x", 'a"b', "#", "--help", "x; shell touch /tmp/owned", "a\\", "%s%n"]:
            check(f"a tensor called {name}", s.get("/tensors/" + quote(name, safe=""))[0] in (400, 409, 422))


def case_quoting():
    with server() as s:
        s.at("told")
        for name in ["../../etc/passwd", "x' --out /tmp/x", 'a"b', "#", "--help", "x; shell touch owned", "a\\", "%s%n",
                     "$(touch owned)", "`touch owned`", "x | touch owned", "é"]:
            status, answer = s.get("/tensors/" + quote(name, safe=""))
            check(f"a tensor called {name}", status in (400, 422), answer)
            status, answer = s.post("/debug/evaluate", expression=name)
            check(f"an expression {name}", status in (200, 400, 422), answer)
        check("nothing of that was run", not glob.glob(os.path.join(s.folder, "owned")) and
              not os.path.exists(os.path.join(WORK, "owned")))
        check("the session is as it was", s.data("GET", "/debug/status")["state"] == "paused")


def case_killed():
    """Whatever is killed: the server answers, and the trace has all that was answered."""
    with server() as s:
        s.at("told")
        os.kill(parent_of(s.data("GET", "/debug/status")["pid"]), signal.SIGKILL)
        check("gdb is killed", wait_until(lambda: s.data("GET", "/debug/status")["state"] == "ended"))
        status, answer = s.get("/debug/location")
        check("which is a message", status == 410 and "has ended" in answer["error"], answer)
        check("the trace is whole", wait_until(lambda: any(r["kind"] == "gdb ended" for r in json.load(open(s.traces()[0]))["records"])))
        s.data("POST", "/debug/terminate")
        s.at("told")
        program = s.data("GET", "/debug/status")["pid"]
        os.kill(program, signal.SIGKILL)
        wait_until(lambda: open(f"/proc/{program}/stat").read().rpartition(")")[2].split()[0] == "Z")
        s.data("POST", "/debug/continue_async")
        told = s.paused("exited")
        check("the program is killed, which is told though gdb knows of no registers", told["stop"].get("signal") == "SIGKILL", told)
        s.at("told")
        check("and can be started again", s.data("GET", "/debug/status")["pid"] != program)
    lost = wrong = 0
    rounds = int(os.environ.get("KILLS", "12"))
    for i in range(rounds):
        folder = os.path.join(WORK, f"killed-{i}")
        s = Server(folder=folder)
        asked = []

        def work():
            with contextlib.suppress(Exception):
                s.at("told")
                asked.append("step")
                while True:
                    expression = f"steps + {len(asked)}"
                    s.data("POST", "/debug/evaluate", expression=expression)
                    asked.append(expression)

        thread = threading.Thread(target=work)
        thread.start()
        wait_until(lambda: len(asked) > 1 + i % 7)
        time.sleep(0.003 * (i % 5))
        answered = list(asked)
        children = children_of(s.process.pid)
        s.stop(signal.SIGKILL)
        thread.join()
        if not wait_until(lambda: not any(is_alive(c) for c in children), 15):
            lost += 1
        Server(folder=folder).stop()
        told = [json.load(open(f)) for f in glob.glob(os.path.join(folder, "traces", "loop_*.json"))]
        kept = [r["request"]["params"].get("expression") for t in told for r in t["records"] if r["kind"] == "request"]
        wrong += not all(a in kept for a in answered[1:])
    check(f"the server is killed {rounds} times: all that was answered is in a whole trace", wrong == 0, wrong)
    check("and no gdb or program is left", lost == 0, lost)


def descendants_of(pid):
    return [d for c in children_of(pid) for d in [c] + descendants_of(c)]


def sleeper_of(s):
    """A process that gdb has started and that nothing but SIGKILL ends, or None."""
    with contextlib.suppress(OSError):
        return next((p for p in descendants_of(s.process.pid) if b"1000.25" in open(f"/proc/{p}/cmdline", "rb").read()), None)


def case_waits():
    """What would read the next request as its own is refused; what is not done in time is interrupted; the end comes in any case."""
    sleep = "shell trap '' INT TERM; sleep 1000.25; true"
    loop = subprocess.Popen([LOOP, "for_ever"], stdout=subprocess.PIPE, text=True)
    try:
        loop.stdout.readline()
        with server() as s:
            s.at("told")
            status, answer = s.post("/command", command=" def foo")
            check("a command that reads lines is refused", status == 400 and "source FILE" in answer["error"], answer)
            for _ in range(5):
                status, answer = s.post("/command", command="with print pretty on -- define foo", timeout=0.2)
                heard, told = s.post("/command", command="info args", timeout=20)
                if status != 504 or heard != 200:
                    break
            check("one that nobody knew is not answered", status == 504 and "0.2 s" in answer["error"], answer)
            check("and interrupted, so that the next is heard", heard == 200 and "steps = 3" in told["data"]["text"], told)
            s.data("POST", "/debug/start", pid=loop.pid)
            asking = threading.Thread(target=s.post, args=("/command",), kwargs={"command": sleep})
            asking.start()
            wait_until(lambda: sleeper_of(s))
            busy = sleeper_of(s)
            s.data("POST", "/debug/terminate")
            asking.join(30)
            check("a busy gdb ends", busy and not asking.is_alive(), busy)
            check("with what it has started", wait_until(lambda: not is_alive(busy)))
            check("what it was attached to lives on", wait_until(lambda: open(f"/proc/{loop.pid}/stat").read().split()[2] in "RS"))
    finally:
        loop.kill()
        loop.wait()


def case_traces():
    folder = os.path.join(WORK, "traces-kept")
    for _ in range(3):
        with server(folder=folder) as s:
            s.data("POST", "/debug/start", program=LOOP)
            s.data("POST", "/debug/terminate")
    with server("--keep", "1", folder=folder) as s:
        check("old traces go", len(s.traces()) == 1, s.traces())
        s.at("told", args=["lazy"])
        trace = os.path.join(folder, s.data("POST", "/debug/terminate")["trace"])
        records = json.load(open(trace))["records"]
        stop = next(r for r in records if r["kind"] == "stop")
        tensors = {t["variable"]: t for t in stop["tensors"]}
        check("a stop has the tensors of its variables", tensors["next"]["shape"] == [1, 256, 64], stop)
        s.at("told")
        trace = os.path.join(folder, s.data("POST", "/debug/terminate")["trace"])
        records = json.load(open(trace))["records"]
        tensors = {t["variable"]: t for r in records if r["kind"] == "stop" for t in r["tensors"]}
        check("with figures and a checksum of values", tensors["next"]["digest"]["mean"] == 2 and
              len(tensors["next"]["digest"]["checksum"]) == 16, tensors)
        check("records are numbered", [r["n"] for r in records] == list(range(1, len(records) + 1)))
    with server("--no-trace", folder=os.path.join(WORK, "traces-none")) as s:
        s.data("POST", "/debug/start", program=LOOP)
        check("none, where none is wanted", not os.path.exists(os.path.join(s.folder, "traces")))
    for verb in "serve", "mcp":
        done = subprocess.run([LAZYBONES, verb, "--traces", "/proc/x"], capture_output=True, text=True, timeout=20, input="")
        check(f"{verb}: a folder that cannot be had", done.returncode == 1 and "/proc/x: No such file" in done.stderr, done)
    empty = os.path.join(WORK, "traces-empty")
    with server("--traces", empty):
        check("no folder before there is a trace", not os.path.exists(empty))


def case_trace_diff():
    with server() as s:
        def trace(*args):
            s.at("told", args=list(args))
            while s.data("GET", "/debug/status")["state"] == "paused":
                s.data("POST", "/debug/continue_async")
                s.data("GET", "/debug/status?wait=20")
            return os.path.join(s.folder, s.data("POST", "/debug/terminate")["trace"])

        def diff(a, b, *options):
            done = subprocess.run([LAZYBONES, "trace-diff", a, b, *options], capture_output=True, text=True, timeout=60)
            return done.returncode, done.stdout + done.stderr

        one, again, other, longer = trace("x"), trace("x"), trace("x", "3", "2.5"), trace("x", "4")
        status, text = diff(one, again)
        check("the same twice", status == 0 and "0 of 3 pairs differ" in text, text)
        status, text = diff(one, other)
        check("the first that differs", status == 3 and re.search(r"^> #\d+ +denoise loop.c:\d+: 1 tensor differs$", text, re.M) and
              "next is different; mean 2, 2.5" in text, text)
        status, text = diff(one, other, "--json")
        told = json.loads(text)
        first = next(p for p in told["stops"] if p["first_difference"])
        check("as JSON", told["different"] == 3 and told["matched_by"] == "place" and
              [t["name"] for t in first["tensors"] if t["verdict"] == "different"] == ["next"], told)
        check("within a tolerance", diff(one, other, "--rtol", "0.9")[0] == 0)
        status, text = diff(one, longer)
        check("a stop more", status == 3 and "1 only in the second" in text, text)
        check("what is no trace", diff(one, SOURCE)[0] == 1)
        check("what is not there", diff(one, "/nonexistent")[0] == 1)


def case_replay():
    with server() as s:
        s.at("told", args=["x", "3"])
        s.data("GET", "/tensors/next/values?slice=" + quote("0,0,:2"))
        s.data("POST", "/debug/evaluate", expression="next.mean()")
        s.data("POST", "/debug/breakpoint", function="shadow")
        s.data("POST", "/debug/step/over")
        s.post("/debug/evaluate", expression="nonsense +")
        s.data("POST", "/debug/breakpoints/clear")
        s.data("POST", "/debug/continue_async")
        s.paused("exited")
        trace = os.path.join(s.folder, s.data("POST", "/debug/terminate")["trace"])

        def replay(*words):
            done = subprocess.run([LAZYBONES, "replay-session", trace, *words], cwd=s.folder, capture_output=True, text=True,
                                  timeout=120)
            return done.returncode, done.stdout + done.stderr

        status, text = replay()
        check("a session again", status == 0 and "9 requests asked again, 0 answered otherwise" in text and
              "0 of 2 pairs differ" in text, text)
        other = os.path.join(s.folder, "loop")
        subprocess.run([os.environ.get("CC", "gcc"), "-g", "-O0", "-Dlb_multiply=lb_add", "-Dshadow=shade", "-Iruntime", SOURCE, "-o", other,
                        "-L" + os.path.join(os.environ["O"], "lib"), "-llazybones",
                        "-Wl,-rpath," + os.path.join(os.environ["O"], "lib")], check=True)
        status, text = replay(other)
        check("of another build, what came out otherwise", status == 3 and "next is different; mean 2, 3" in text, text)
        check("a breakpoint that waits there", "1 answered otherwise" in text and "the breakpoint waits" in text, text)
        done = subprocess.run([LAZYBONES, "replay-session", SOURCE], capture_output=True, text=True, cwd=s.folder)
        check("of what is no trace", done.returncode == 1 and "is no trace" in done.stderr, done)


LOADER = os.path.join(os.environ["O"], "lazybones.gdb")


def typed_session(folder, program, lines, load=("-x", LOADER)):
    """A gdb that somebody types at: its process and terminal. The lines wait for gdb's prompt."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.environ.update(LAZYBONES_TRACE="kept", TERM="dumb")
        os.execvp("gdb", ["gdb", "-q", "-nx", "-iex", "set debuginfod enabled off", "-iex", "set confirm off", *load, program])
    seen = b""
    for line in lines + [None]:
        end = time.monotonic() + 30
        while not seen.endswith(b"(gdb) ") and time.monotonic() < end:
            if select.select([terminal], [], [], 1)[0]:
                try:
                    seen += os.read(terminal, 65536)
                except OSError:
                    break
        if line is None:
            break
        seen = b""
        os.write(terminal, line.encode() + b"\n")
    return pid, terminal


def drain(terminal):
    with contextlib.suppress(OSError):  # its other end is closed
        while os.read(terminal, 65536):
            pass


def case_gdb_trace():
    """LAZYBONES_TRACE: an ordinary session of gdb is kept as a server's is."""
    folder = os.path.join(WORK, "gdb-trace")
    os.makedirs(folder)
    lines = ["break scaled", "run x 3", "next", "tensor print x", "tensor print nosuch", "continue"]
    pid, terminal = typed_session(folder, LOOP, lines)
    traces = sorted(glob.glob(os.path.join(folder, "kept", "gdb_*.json")))
    wait_until(lambda: [r["kind"] for r in json.load(open(traces[0]))["records"]].count("stop") == 3)
    whole = json.load(open(traces[0]))
    check("the trace is whole while gdb lives", whole["session"]["program"] == LOOP, whole["session"])
    kinds = [r["kind"] for r in whole["records"]]
    check("stops and commands, in their order", [k for k in kinds if k != "typed"] ==
          ["stop", "stop", "command", "command", "stop"], kinds)
    stops = [r for r in whole["records"] if r["kind"] == "stop"]
    check("where each is", [(s["stop"]["reason"], s["stop"]["location"]["function"]) for s in stops] ==
          [("breakpoint-hit", "scaled"), ("end-stepping-range", "scaled"), ("breakpoint-hit", "scaled")], stops)
    check("its tensors, by variable", {t["variable"]: t["state"] for t in stops[1]["tensors"]} == {"x": "lazy", "y": "lazy"}, stops[1])
    check("figures of their values", stops[2]["tensors"][0]["digest"]["mean"] == 2, stops[2])
    commands = [r for r in whole["records"] if r["kind"] == "command"]
    check("an answer", commands[0]["ok"] and "latents" in commands[0]["answer"], commands[0])
    check("a failure", not commands[1]["ok"] and "nosuch" in commands[1]["answer"], commands[1])
    typed = sum([r["lines"] for r in whole["records"] if r["kind"] == "typed"], [])
    if typed:
        check("what was typed", typed == lines[:len(typed)] and len(typed) >= 5, typed)
    else:
        print("skip: this gdb keeps its history to itself")
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(terminal)
    check("it was killed", json.load(open(traces[0]))["records"] == whole["records"])
    pid, terminal = typed_session(folder, LOOP, ["break scaled", "run x 3 3", "next", "continue"])
    os.write(terminal, b"quit\n")
    drain(terminal)
    os.waitpid(pid, 0)
    os.close(terminal)
    traces = sorted(glob.glob(os.path.join(folder, "kept", "gdb_*.json")))
    check("two traces, no journal", len(traces) == 2 and not glob.glob(os.path.join(folder, "kept", "*.jsonl")), traces)
    done = subprocess.run([LAZYBONES, "trace-diff", *traces, "--json"], capture_output=True, text=True)
    check("laid side by side", done.returncode in (0, 3) and json.loads(done.stdout), done)
    if typed:
        done = subprocess.run([LAZYBONES, "replay-session", traces[1], "--traces", os.path.join(folder, "again")],
                              capture_output=True, text=True, timeout=120)
        check("typed again", done.returncode == 0 and "0 of " in done.stdout, done)
    pid, terminal = typed_session(folder, LOOP, ["tensor catch nan", "run nan"])
    traces = sorted(glob.glob(os.path.join(folder, "kept", "gdb_*.json")))
    stopped = lambda: [r for r in json.load(open(traces[-1]))["records"] if r["kind"] == "stop"]
    wait_until(stopped)
    check("at a catch, the program's own frame", [s["stop"]["location"]["function"] for s in stopped()] == ["main"], stopped())
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    os.close(terminal)
    environment = dict(os.environ, LAZYBONES_TRACE="/proc/nowhere")
    done = subprocess.run(["gdb", "-q", "-nx", "-batch", "-x", LOADER], capture_output=True, text=True, env=environment)
    check("a folder that cannot be had", "LAZYBONES_TRACE: " in done.stdout + done.stderr, done)


def case_gdb_trace_again():
    """A trace of gdb is typed again whenever its program came, and the library."""
    folder = os.path.join(WORK, "gdb-trace-again")
    os.makedirs(folder)

    def replay(trace, *words):
        return subprocess.run([LAZYBONES, "replay-session", trace, *words, "--traces", os.path.join(folder, "again")],
                              capture_output=True, text=True, timeout=120)

    def kept():
        return max(glob.glob(os.path.join(folder, "kept", "gdb_*.json")), key=os.path.getmtime)

    def typed(lines, load):
        pid, terminal = typed_session(folder, LOOP, lines, load)
        os.write(terminal, b"quit\n")
        drain(terminal)
        os.waitpid(pid, 0)
        os.close(terminal)
        whole = json.load(open(kept()))
        return whole, sum([r["lines"] for r in whole["records"] if r["kind"] == "typed"], [])

    with open(os.path.join(folder, ".gdb_history"), "w") as history:
        history.write("print 1\n\nnonsense\n")
    lines = ["break scaled", "source " + LOADER, "run x 3", "next"]
    whole, seen = typed(lines, ())
    if not seen:
        print("skip: this gdb keeps its history to itself")
    else:
        check("the library came late: what was typed before, and nothing of earlier sessions", seen[:4] == lines, seen)
        done = replay(kept())
        check("typed again", done.returncode == 0 and "0 of 2 pairs differ" in done.stdout, done)
        lines = ["break scaled", "run x 3", "next"]
        whole, seen = typed(lines, ("-ix", LOADER))
        program = [r for r in whole["records"] if r["kind"] == "program"]
        check("the program came late", seen[:3] == lines and whole["session"]["program"] is None and
              [(r["program"], r["arguments"]) for r in program] == [(LOOP, "x 3")], whole)
        done = replay(kept())
        check("and is found", done.returncode == 0 and "0 of 2 pairs differ" in done.stdout, done)
    subprocess.run(["gdb", "-q", "-nx", "-batch", "-x", LOADER, "-ex", "break scaled", "-ex", "run x 3", LOOP], cwd=folder,
                   capture_output=True, env=dict(os.environ, LAZYBONES_TRACE="kept"))
    done = replay(kept(), LOOP)
    check("why a script is not typed again", done.returncode == 1 and "whose lines nobody typed" in done.stderr, done)


def case_mcp():
    folder = os.path.join(WORK, "mcp")
    os.makedirs(folder)
    agent = subprocess.Popen([LAZYBONES, "mcp"], cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(method, **params):
        ask.id += 1
        agent.stdin.write(json.dumps({"jsonrpc": "2.0", "id": ask.id, "method": method, "params": params}) + "\n")
        agent.stdin.flush()
        answer = json.loads(agent.stdout.readline())
        assert answer["id"] == ask.id, answer
        return answer["result"]

    def call(tool, **arguments):
        result = ask("tools/call", name=tool, arguments=arguments)
        assert not result["isError"], result
        return json.loads(result["content"][0]["text"])["data"]

    ask.id = 0
    told = ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "t", "version": "1"})
    check("mcp: initialize", told["serverInfo"]["name"] == "lazybones" and told["protocolVersion"] == "2025-06-18", told)
    agent.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    tools = {t["name"]: t for t in ask("tools/list")["tools"]}
    check("mcp: tools with schemas", tools["evaluate"]["inputSchema"]["required"] == ["expression"] and len(tools) > 25, tools)
    call("start", program=LOOP)
    call("set_breakpoint", file_path=SOURCE, line=LINES["told"])
    call("continue_async")
    check("mcp: paused", call("status", wait=20)["state"] == "paused")
    check("mcp: evaluate", call("evaluate", expression="latents.shape")["value"] == "[1, 256, 64]")
    number = call("tensor", id="next")["id"]
    check("mcp: a tensor by its number", call("tensor", id=number)["name"] == "next" and
          "values" in call("tensor_values", id=number, slice="0,0,:2"))
    check("mcp: two by their numbers", call("diff", a=number, b=number)["equal"])
    check("mcp: as the schema says", tools["tensor"]["inputSchema"]["properties"]["id"]["type"] == ["string", "integer"])
    told = ask("tools/call", name="tensor", arguments={})
    check("mcp: which argument is missing", told["isError"] and "'id' is needed" in told["content"][0]["text"], told)
    picture = ask("tools/call", name="tensor_image", arguments={"id": number})["content"][0]
    check("mcp: a picture", picture["type"] == "image" and picture["data"].startswith("iVBOR"), picture)
    check("mcp: an error is told", ask("tools/call", name="tensor", arguments={"id": "nothing"})["isError"])
    agent.stdin.close()
    check("mcp: it ends with its input", agent.wait(20) == 0)


def case_command_line():
    with server("--", LOOP, "lazy", "5") as s:
        s.data("POST", "/debug/breakpoint", function="denoise")
        s.data("POST", "/debug/continue_async")
        s.paused()
        check("a program and its arguments", s.data("POST", "/debug/evaluate", expression="steps")["value"] == "5")
        done = subprocess.run([LAZYBONES, "serve", "--port", str(s.port), "--no-trace"], capture_output=True, text=True, timeout=20)
        check("a port that is taken", done.returncode == 1 and "in use" in done.stderr, done)
    done = subprocess.run([LAZYBONES, "serve", "/nonexistent"], capture_output=True, text=True, timeout=20, cwd=WORK)
    check("a program that is not there", done.returncode == 1 and "No such file" in done.stderr, done)
    done = subprocess.run([LAZYBONES, "help", "serve"], capture_output=True, text=True, timeout=20)
    check("options stand before the program, whose the others are", "serve [OPTION]... [PROGRAM [ARGUMENT]...]" in done.stdout, done)
    done = subprocess.run([LAZYBONES, "serve", "--port", "99999"], capture_output=True, text=True, timeout=20)
    check("a port that is none", done.returncode == 2, done)


def main():
    cases = {name[5:]: case for name, case in globals().items() if name.startswith("case_")}
    for name in sys.argv[2:] or cases:
        start = time.monotonic()
        try:
            cases[name]()
        except Exception:  # whatever goes wrong in a case is that case's failure
            check(name, False, traceback.format_exc())
        print(f"   {name}: {time.monotonic() - start:.1f} s", flush=True)
    print("{passed} passed, {failed} failed, {skipped} skipped".format(**counts))
    return counts["failed"] > 0


sys.exit(main())
