"""Plays each scene, sick and well, and asks the doctor: which rule speaks first. Prints a line a scene, then precision and recall.

    check.py LAZYBONES PROGRAM…

The program lists its scenes, their rules, and "low" where the rule says low, or "death" where the sick one dies, by `list`; it
plays one by NAME sick|well.
"""
import concurrent.futures
import json
import os
import resource
import subprocess
import sys
import tempfile

lazybones, *program = sys.argv[1:]
passed = failed = 0
skipped = []
found = named = speaks = right = healthy = 0


def ask(name, state):
    """What it says of a scene: ids of findings above low, then of those that are low."""
    with subprocess.Popen([*program, name, state], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as scene:
        assert scene.stdout.readline() == "ready\n", f"{name} {state} did not get ready"
        answer = listen("pid", str(scene.pid))
        scene.stdin.close()
    return take(f"{name} {state}", answer)


def listen(*what):
    return subprocess.run([lazybones, *what, "doctor", "--json"], stdout=subprocess.PIPE, timeout=300, check=False)


def ask_core(name):
    """What it says of the core of one that dies."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*map(os.path.abspath, program), name, "sick"], cwd=folder, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=300, check=False, preexec_fn=allow_core)
        cores = os.listdir(folder)
        assert len(cores) == 1, f"{name} left {cores}"
        return take(f"{name}, dead", listen("core", os.path.join(folder, cores[0])))


def allow_core():
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))


def cores_are_written():
    with open("/proc/sys/kernel/core_pattern", encoding="ascii") as pattern:
        return pattern.read() == "core\n" and resource.getrlimit(resource.RLIMIT_CORE)[1] != 0


def take(what, answer):
    said = json.loads(answer.stdout)
    assert "findings" in said, f"{what}: {said}"
    findings = [f["id"] for f in said["findings"] if f["severity"] != "low"]
    expected = 3 if findings else 0
    assert answer.returncode == expected, f"{what}: exit status {answer.returncode}, not {expected}"
    return findings, [f["id"] for f in said["findings"] if f["severity"] == "low"]


def begin(pool, name, rule, *severity):
    """Its sick one is played; None: there is none."""
    if rule == "none":
        return None
    return pool.submit(ask_core, name) if "death" in severity else pool.submit(ask, name, "sick")


def judge(good, what):
    global passed, failed
    passed += good
    failed += not good
    print(("ok: " if good else "FAILED: ") + what)


rows = [line.split() for line in
        subprocess.run([*program, "list"], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()]
if not cores_are_written():
    skipped = [row for row in rows if "death" in row[2:]]
    rows = [row for row in rows if row not in skipped]
    print(f"skip: {len(skipped)} that die: no cores are written here")
with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
    asked = [(row, pool.submit(ask, row[0], "well"), begin(pool, *row))
             for row in rows]
    for (name, rule, *severity), well, sick in asked:
        above, low = well.result()
        healthy += 1
        judge(not above and rule not in low, f"{name}, healthy: nothing above low, {above}")
        speaks += len(above)
        if not sick:
            continue
        above, low = sick.result()
        is_low = "low" in severity
        is_named = rule in low if is_low else rule in above[:2]
        judge(is_named and not (is_low and above), f"{name}: {rule} is among {above[:2]}{low if is_low else ''}")
        found += is_named
        named += 1
        speaks += len(above) + is_low
        right += above.count(rule) + is_low

print(f"recall {found} of {named} sick programs: the right rule is the first or second finding")
print(f"precision {right} of {speaks} findings are the right rule's: what else a sick one of {named} has above low, "
      f"and all that a healthy one of {healthy} has, counts as wrong")
print(f"{passed} passed, {failed} failed, {len(skipped)} skipped")
sys.exit(failed > 0)
