"""Plays each scene, sick and well, and asks the doctor: which rule speaks first. Prints a line a scene, then precision and recall.

    check.py LAZYBONES PROGRAM…

The program lists its scenes and their rules by `list`, and plays one by NAME sick|well.
"""
import json
import subprocess
import sys

lazybones, *program = sys.argv[1:]
passed = failed = 0
found = named = speaks = right = 0


def ask(name, state):
    with subprocess.Popen([*program, name, state], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as scene:
        assert scene.stdout.readline() == "ready\n", f"{name} {state} did not get ready"
        answer = subprocess.run([lazybones, "pid", str(scene.pid), "doctor", "--json"], stdout=subprocess.PIPE,
                                timeout=300, check=False)
        scene.stdin.close()
    said = json.loads(answer.stdout)
    assert "findings" in said, f"{name} {state}: {said}"
    findings = [f for f in said["findings"] if f["severity"] != "low"]
    expected = 3 if findings else 0
    assert answer.returncode == expected, f"{name} {state}: exit status {answer.returncode}, not {expected}"
    return [f["id"] for f in findings]


def judge(good, what):
    global passed, failed
    passed += good
    failed += not good
    print(("ok: " if good else "FAILED: ") + what)


for line in subprocess.run([*program, "list"], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines():
    name, rule = line.split()
    well = ask(name, "well")
    judge(not well, f"{name}, healthy: nothing above low, {well}")
    speaks += len(well)
    if rule == "none":
        continue
    sick = ask(name, "sick")
    judge(rule in sick[:2], f"{name}: {rule} is among {sick[:2]}")
    found += rule in sick[:2]
    named += 1
    speaks += len(sick)
    right += sick.count(rule)

print(f"recall {found} of {named} sick programs: the right rule is the first or second finding")
print(f"precision {right} of {speaks} findings above low are the right rule's; what else a sick program has counts as wrong")
print(f"{passed} passed, {failed} failed, 0 skipped")
sys.exit(failed > 0)
