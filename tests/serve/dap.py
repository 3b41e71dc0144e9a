"""An editor's session: cdt-gdb-adapter speaks the Debug Adapter Protocol, over a gdb that has our commands. Called by
tests/serve/run: ADAPTER LOADER PROGRAM; where a line of the source is marked "told"."""

import json
import subprocess
import sys

ADAPTER, LOADER, PROGRAM = sys.argv[1:4]
SOURCE = "tests/serve/loop.c"
LINE = next(n for n, text in enumerate(open(SOURCE), 1) if "/* told */" in text)
counts = {"passed": 0, "failed": 0}


def check(what, ok, seen=None):
    counts["passed" if ok else "failed"] += 1
    print(f"ok: dap: {what}" if ok else f"FAILED: dap: {what}: {str(seen)[:800]}", flush=True)


class Adapter:
    def __init__(self):
        self.process = subprocess.Popen(["node", ADAPTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        self.number, self.events, self.output = 0, [], ""

    def read(self):
        length = 0
        while line := self.process.stdout.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        told = json.loads(self.process.stdout.read(length))
        if told["type"] == "event" and told["event"] == "output":
            self.output += told["body"]["output"]
        elif told["type"] == "event":
            self.events.append(told)
        return told

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
                return told.get("body") or {}

    def wait_for(self, event):
        while True:
            for i, told in enumerate(self.events):
                if told["event"] == event:
                    return self.events.pop(i).get("body", {})
            self.read()

    def say(self, line, frame):
        """What a command prints that is typed into the editor's console."""
        self.output = ""
        self.ask("evaluate", expression=f"> {line}", frameId=frame, context="repl")
        return self.output


adapter = Adapter()
adapter.ask("initialize", adapterID="gdb", pathFormat="path")
adapter.send("launch", program=PROGRAM, arguments="nan 2", gdb="gdb", initCommands=[f"source {LOADER}"], gdbAsync=False,
             gdbNonStop=False)
adapter.wait_for("initialized")
told = adapter.ask("setBreakpoints", source={"path": SOURCE}, breakpoints=[{"line": LINE}])
check("a breakpoint by its file", told["breakpoints"][0]["verified"], told)
adapter.ask("configurationDone")
thread = adapter.wait_for("stopped")["threadId"]
frames = adapter.ask("stackTrace", threadId=thread)["stackFrames"]
check("it stops there", (frames[0]["name"], frames[0]["line"]) == ("denoise", LINE), frames)
text = adapter.say("tensor list next", frames[0]["id"])
check("tensor list, in the console", "float32  (1, 256, 64)  ready" in text, text)
text = adapter.say("tensor print next[0, 0, :2]", frames[0]["id"])
check("tensor print", "[2. 2.]" in text, text)
adapter.say("tensor catch nan", frames[0]["id"])
adapter.ask("setBreakpoints", source={"path": SOURCE}, breakpoints=[])
adapter.ask("continue", threadId=thread)
adapter.wait_for("stopped")
frames = adapter.ask("stackTrace", threadId=thread)["stackFrames"]
check("a catch stops it, with the program's frame among those of the library", "main" in [f["name"] for f in frames], frames)
text = adapter.say("tensor stats bad", frames[0]["id"])
check("what was caught", "4 NaN" in text or "nan" in text.lower(), text)
adapter.ask("disconnect")
adapter.process.kill()
adapter.process.wait()
print("{passed} passed, {failed} failed, 0 skipped".format(**counts))
sys.exit(counts["failed"] > 0)
