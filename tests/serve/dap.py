"""An editor's session: cdt-gdb-adapter speaks the Debug Adapter Protocol, over a gdb that has our commands. Called by
tests/serve/run: ADAPTER LOADER PROGRAM BILLION; where a line of the source is marked "told", and a program that
has a tensor of a billion elements."""

import json
import os
import subprocess
import sys

ADAPTER, LOADER, PROGRAM, BILLION = sys.argv[1:5]
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

# The pane of variables, with the printer.
adapter = Adapter()
adapter.ask("initialize", adapterID="gdb", pathFormat="path")
adapter.send("launch", program=BILLION, gdb="gdb", gdbAsync=False, gdbNonStop=False,
             initCommands=[f"source {LOADER}", f"source {os.path.abspath('gdbext/plugin/printer.py')}"])
adapter.wait_for("initialized")
LINE = next(n for n, text in enumerate(open("tests/gdb/billion.c"), 1) if "__asm__" in text)
adapter.ask("setBreakpoints", source={"path": "tests/gdb/billion.c"}, breakpoints=[{"line": LINE}])
adapter.ask("configurationDone")
thread = adapter.wait_for("stopped")["threadId"]
frames = adapter.ask("stackTrace", threadId=thread)["stackFrames"]


def variables(reference):
    return {v["name"]: v for v in adapter.ask("variables", variablesReference=reference)["variables"]}


scopes = adapter.ask("scopes", frameId=frames[0]["id"])["scopes"]
told = variables(scopes[0]["variablesReference"])
check("a tensor in the pane", told["big"]["value"] == "big: float32 (1000000000,), ready", told)
told = adapter.ask("evaluate", expression="small", frameId=frames[0]["id"], context="hover")
check("a tooltip has a tensor's name and shape", told["result"] == "small: float32 (2, 3), lazy", told)
adapter.ask("disconnect")
adapter.process.kill()
adapter.process.wait()
print("{passed} passed, {failed} failed, 0 skipped".format(**counts))
sys.exit(counts["failed"] > 0)
