"""What a session costs whoever drives it, beside debugpy: the same work, by requests of HTTP and of the Debug Adapter
Protocol. Called by tests/bench/run: LAZYBONES PROGRAM [SCRIPT PYTHON], which has debugpy and NumPy; prints "KEY VALUE" lines."""

import http.client
import json
import os
import subprocess
import sys
import threading
import time

ROUNDS = 40


def median(values):
    return sorted(values)[len(values) // 2]


def timed(work):
    began = time.perf_counter()
    result = work()
    return (time.perf_counter() - began) * 1e3, result


class Ours:
    def __init__(self, lazybones):
        self.process = subprocess.Popen([lazybones, "serve", "--port", "0", "--no-token", "--traces", "traces"],
                                        stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline().rsplit(":", 1)[1].rstrip("/\n"))
        self.connection = http.client.HTTPConnection("127.0.0.1", self.port)

    def bytes_of(self, path):
        self.connection.request("GET", path)
        return self.connection.getresponse().read()

    def ask(self, method, path, **body):
        self.connection.request(method, path, json.dumps(body) if body else None, {"Content-Type": "application/json"})
        answer = json.loads(self.connection.getresponse().read())
        if not answer["success"]:
            raise RuntimeError(answer["error"])
        return answer["data"]

    def stop_at(self, program, function, *args):
        self.ask("POST", "/debug/start", program=program, args=list(args))
        self.ask("POST", "/debug/breakpoint", function=function)
        self.ask("POST", "/debug/continue_async")
        return self.ask("GET", "/debug/status?wait=60")

    def end(self):
        self.process.terminate()
        self.process.wait()


def processor_seconds(pid):
    fields = open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def polled(ours, clients, seconds):
    """The share of a core that so many clients cost, which ask ten times a second."""
    end = time.monotonic() + seconds

    def poll():
        connection = http.client.HTTPConnection("127.0.0.1", ours.port)
        while time.monotonic() < end:
            connection.request("GET", "/debug/status")
            connection.getresponse().read()
            time.sleep(0.1)

    before = processor_seconds(ours.process.pid)
    threads = [threading.Thread(target=poll) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return 100 * (processor_seconds(ours.process.pid) - before) / seconds


def measure_ours(lazybones, program):
    ours = Ours(lazybones)
    starts, at_once = [], []
    for _ in range(5):
        time.sleep(4)  # a gdb is ready by then
        for kept in starts, at_once:
            ms, _ = timed(lambda: ours.stop_at(program, "denoise", "x", "100"))
            kept.append(ms)
            ours.ask("POST", "/debug/terminate")
    print("ours_start", median(starts))
    print("ours_at_once", median(at_once))
    ours.stop_at(program, "denoise", "x", "100")
    print("ours_step", median([timed(lambda: ours.ask("POST", "/debug/step/over"))[0] for _ in range(ROUNDS)]))
    print("ours_variables", median([timed(lambda: ours.ask("GET", "/debug/variables"))[0] for _ in range(ROUNDS)]))
    print("ours_evaluate", median([timed(lambda: ours.ask("POST", "/debug/evaluate", expression="next.shape"))[0]
                                   for _ in range(ROUNDS)]))
    print("ours_tensor", median([timed(lambda: ours.ask("GET", "/tensors/next"))[0] for _ in range(ROUNDS)]))
    print("ours_polled", polled(ours, 4, 5))
    ours.ask("POST", "/debug/terminate")
    ours.stop_at(program, "when_many", "many", "0")
    print("ours_list", median([timed(lambda: ours.bytes_of("/tensors?limit=0"))[0] for _ in range(10)]))
    ours.end()


class DebugAdapter:
    """A client of debugpy's adapter, over its standard input and output, as editors start it."""

    def __init__(self, python):
        self.process = subprocess.Popen([python, "-m", "debugpy.adapter"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        self.number = 0
        self.events = []

    def read(self):
        length = 0
        while line := self.process.stdout.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        return json.loads(self.process.stdout.read(length))

    def send(self, command, **arguments):
        self.number += 1
        body = json.dumps({"seq": self.number, "type": "request", "command": command, "arguments": arguments}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()
        return self.number

    def ask(self, command, **arguments):
        number = self.send(command, **arguments)
        while True:
            told = self.read()
            if told["type"] == "response" and told["request_seq"] == number:
                return told["body"] if told.get("body") is not None else {}
            if told["type"] == "event":
                self.events.append(told)

    def wait_for(self, event):
        while True:
            for i, told in enumerate(self.events):
                if told["event"] == event:
                    return self.events.pop(i).get("body", {})
            told = self.read()
            if told["type"] == "event":
                self.events.append(told)

    def end(self):
        self.process.terminate()
        self.process.wait()


def stopped(python, script):
    adapter = DebugAdapter(python)
    adapter.ask("initialize", adapterID="bench", pathFormat="path")
    adapter.send("launch", program=script, python=[python], console="internalConsole", args=["100"], justMyCode=True)
    adapter.wait_for("initialized")
    line = next(n for n, text in enumerate(open(script), 1) if "# stop" in text)
    adapter.ask("setBreakpoints", source={"path": script}, breakpoints=[{"line": line}])
    adapter.ask("configurationDone")
    return adapter, adapter.wait_for("stopped")["threadId"]


def measure_debugpy(python, script):
    starts = []
    for _ in range(5):
        ms, (adapter, thread) = timed(lambda: stopped(python, script))
        starts.append(ms)
        adapter.end()
    print("peer_start", median(starts))
    adapter, thread = stopped(python, script)

    def step():
        adapter.ask("next", threadId=thread)
        adapter.wait_for("stopped")

    def frame():
        return adapter.ask("stackTrace", threadId=thread, levels=1)["stackFrames"][0]["id"]

    def variables():
        scope = adapter.ask("scopes", frameId=frame())["scopes"][0]["variablesReference"]
        return adapter.ask("variables", variablesReference=scope)

    print("peer_step", median([timed(step)[0] for _ in range(ROUNDS)]))
    print("peer_variables", median([timed(variables)[0] for _ in range(ROUNDS)]))
    print("peer_evaluate", median([timed(lambda: adapter.ask("evaluate", expression="next_.shape", frameId=frame()))[0]
                                   for _ in range(ROUNDS)]))
    adapter.end()


if __name__ == "__main__":
    measure_ours(sys.argv[1], sys.argv[2])
    if len(sys.argv) > 4:
        measure_debugpy(sys.argv[4], os.path.realpath(sys.argv[3]))
