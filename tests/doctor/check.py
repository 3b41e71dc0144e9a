"""Plays each scene, sick and well, and asks the doctor: which rule speaks first. Prints a line a scene, then precision and recall.

    check.py LAZYBONES PROGRAM…

The program lists its scenes, their rules, and "low" where the rule says low, by `list`; it plays one by NAME sick|well.
"""
import concurrent.futures
import json
import os
import subprocess
import sys

lazybones, *program = sys.argv[1:]
passed = failed = 0
found = named = speaks = right = healthy = 0


def ask(name, state):
    """What it says of a scene: ids of findings above low, then of those that are low."""
    with subprocess.Popen([*program, name, state], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as scene:
        assert scene.stdout.readline() == "ready\n", f"{name} {state} did not get ready"
        answer = subprocess.run([lazybones, "pid", str(scene.pid), "doctor", "--json"], stdout=subprocess.PIPE,
                                timeout=300, check=False)
        scene.stdin.close()
    said = json.loads(answer.stdout)
    assert "findings" in said, f"{name} {state}: {said}"
    findings = [f["id"] for f in said["findings"] if f["severity"] != "low"]
    expected = 3 if findings else 0
    assert answer.returncode == expected, f"{name} {state}: exit status {answer.returncode}, not {expected}"
    return findings, [f["id"] for f in said["findings"] if f["severity"] == "low"]


def judge(good, what):
    global passed, failed
    passed += good
    failed += not good
    print(("ok: " if good else "FAILED: ") + what)


rows = [line.split() for line in
        subprocess.run([*program, "list"], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()]
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    asked = [(row, pool.submit(ask, row[0], "well"), pool.submit(ask, row[0], "sick") if row[1] != "none" else None)
             for row in rows]
    for (name, rule, *severity), well, sick in asked:
        above, low = well.result()
        healthy += 1
        judge(not above and rule not in low, f"{name}, healthy: nothing above low, {above}")
        speaks += len(above)
        if not sick:
            continue
        above, low = sick.result()
        is_low = severity == ["low"]
        is_named = rule in low if is_low else rule in above[:2]
        judge(is_named and not (is_low and above), f"{name}: {rule} is among {above[:2]}{low if is_low else ''}")
        found += is_named
        named += 1
        speaks += len(above) + is_low
        right += above.count(rule) + is_low

print(f"recall {found} of {named} sick programs: the right rule is the first or second finding")
print(f"precision {right} of {speaks} findings are the right rule's: what else a sick one of {named} has above low, "
      f"and all that a healthy one of {healthy} has, counts as wrong")
print(f"{passed} passed, {failed} failed, 0 skipped")
sys.exit(failed > 0)
