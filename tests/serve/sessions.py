"""Sessions, from outside: HTTP, curl, MCP, signals. Called by tests/serve/run with a folder, and the names of cases."""

import contextlib
import glob
import http.client
import json
import os
import re
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

    def __init__(self, *arguments, token=False, folder=None):
        self.folder = folder or os.path.join(WORK, f"server-{time.monotonic_ns()}")
        os.makedirs(self.folder, exist_ok=True)
        options = ["--port", "0"] + ([] if token else ["--no-token"])
        self.process = subprocess.Popen([LAZYBONES, "serve", *options, *arguments], cwd=self.folder,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
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
        check("an unknown frame is refused", s.post("/debug/select", level=99)[0] >= 400)


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
        check("evaluate nonsense", s.post("/debug/evaluate", expression="nonsense +")[0] == 422)
        check("two lines are refused", s.post("/debug/evaluate", expression="1\nshell id")[0] == 400)
        check("the program has not changed", s.data("GET", "/tensors/next")["state"] == "lazy")
        told = s.data("POST", "/command", command="info threads")
        check("a command of gdb", "Thread" in told["text"], told)
        told = s.data("POST", "/command", command="tensor info next --json")
        check("one of ours, as JSON", told["name"] == "next", told)
        check("one that fails", s.post("/command", command="tensor info nothing --json")[0] == 422)


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


def case_core():
    with server() as s:
        s.at("told", args=["lazy"])
        core = os.path.join(s.folder, "core.loop")
        s.data("POST", "/command", command=f"gcore {core}")
        s.data("POST", "/debug/terminate")
        told = s.data("POST", "/debug/start", core=core)
        check("a core is paused", told["state"] == "paused" and told["kind"] == "core", told)
        check("in the program's own frame", told["location"]["function"] == "denoise", told)
        check("its tensors", s.data("GET", "/tensors/next/values?slice=0,0,:2")["values"] == [2, 2])
        status, answer = s.post("/debug/continue_async")
        check("it cannot run", status == 409 and "core" in answer["error"], answer)
        with open(os.path.join(s.folder, "cut"), "wb") as cut:
            cut.write(open(core, "rb").read(5000))
        status, answer = s.post("/debug/start", core=os.path.join(s.folder, "cut"))
        check("a core that is cut", status in (200, 500), answer)
    with server("--core", core) as s:
        check("begun with a core", s.data("GET", "/debug/status")["state"] == "paused")


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
            check("no such process", s.post("/debug/start", pid=2 ** 30)[0] >= 400)
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
        check("twice the same: 400", s.ask("POST", "/debug/evaluate", '{"a":1,"a":2}')[0] == 400)
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
        gdb = next(c for c in children_of(s.process.pid) if "gdb" in open(f"/proc/{c}/comm").read())
        os.kill(gdb, signal.SIGKILL)
        check("gdb is killed", wait_until(lambda: s.data("GET", "/debug/status")["state"] == "ended"))
        status, answer = s.get("/debug/location")
        check("which is a message", status == 410 and "has ended" in answer["error"], answer)
        check("the trace is whole", wait_until(lambda: any(r["kind"] == "gdb ended" for r in json.load(open(s.traces()[0]))["records"])))
        s.data("POST", "/debug/terminate")
        s.at("told")
        program = s.data("GET", "/debug/status")["pid"]
        os.kill(program, signal.SIGKILL)
        s.data("POST", "/debug/continue_async")
        told = s.paused()
        check("the program is killed, which gdb says", told["stop"]["reason"] == "error", told)
        s.data("POST", "/debug/breakpoints/clear")
        for _ in range(10):  # gdb fails once more, if it asks for registers before it is told of the end
            s.data("POST", "/debug/continue_async")
            told = s.data("GET", "/debug/status?wait=20")
            if told["state"] == "exited":
                break
        check("and has ended", told["stop"].get("signal") == "SIGKILL", told)
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
        check("a session again", status == 0 and "8 requests asked again, 0 answered otherwise" in text and
              "0 of 2 pairs differ" in text, text)
        other = os.path.join(s.folder, "loop")
        subprocess.run([os.environ.get("CC", "gcc"), "-g", "-O0", "-Dlb_multiply=lb_add", "-Iruntime", SOURCE, "-o", other,
                        "-L" + os.path.join(os.environ["O"], "lib"), "-llazybones",
                        "-Wl,-rpath," + os.path.join(os.environ["O"], "lib")], check=True)
        status, text = replay(other)
        check("of another build, what came out otherwise", status == 3 and "next is different; mean 2, 3" in text, text)
        done = subprocess.run([LAZYBONES, "replay-session", SOURCE], capture_output=True, text=True, cwd=s.folder)
        check("of what is no trace", done.returncode == 1 and "is no trace" in done.stderr, done)


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
    picture = ask("tools/call", name="tensor_image", arguments={"id": "next"})["content"][0]
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
