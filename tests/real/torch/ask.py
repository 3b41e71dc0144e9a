"""What the checks here ask. Their last arguments are the command that answers: `lazybones pid PID`, `lazybones core CORE`, or
`gdb LAZYBONES PID`, where one gdb is asked what can be asked at once, and `lazybones` the rest."""

import json
import subprocess


class Asked:
    def __init__(self, command):
        self.gdb = command[1:] if command[0] == "gdb" else None
        self.command = [f"{self.gdb[0]}/bin/lazybones", "pid", self.gdb[1]] if self.gdb else command

    def __call__(self, *words):
        """The answer; where there is none, {"error": …}."""
        said = subprocess.run(self.command + list(words) + ["--json"], capture_output=True, text=True, check=False)
        return json.loads(said.stdout or said.stderr)

    def each(self, questions):
        """The answers to several."""
        if not self.gdb:
            return [self(*words) for words in questions]
        lines = []
        for command, *words in questions:
            lines += ["-ex", f"tensor {command} {' '.join(map(quoted, words))} --json"]
        # gdb's own symbols of PyTorch, which take seconds, are not needed
        run = ["gdb", "-q", "-batch", "-nx", "-iex", "set auto-solib-add off", "-x", f"{self.gdb[0]}/lazybones.gdb"]
        run += ["-p", self.gdb[1]] + lines
        said = subprocess.run(run, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        answers = [json.loads(line) for line in said.stdout.split("\n") if line.startswith("{")]
        if len(answers) != len(questions):
            print(len(answers), "answers to", len(questions), "questions:", said.stderr[-2000:])
        return answers


def quoted(word):
    """As gdb's commands take it; what is in quotes whole may also be a tensor's name."""
    return f"'{word}'" if '"' in word else word
