"""signals.py LAZYBONES CORE SIGNAL: a signal ends a command that waits for a replay, and the replay with it."""
import os
import signal
import subprocess
import sys
import time

program, core, name = sys.argv[1:]
number = getattr(signal, "SIG" + name)


def stat(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            text = f.read()
        with open(f"/proc/{pid}/maps") as f:
            maps = f.read()
    except OSError:
        return None
    rest = text[text.rindex(")") + 2:].split()
    return {"state": rest[0], "parent": int(rest[1]), "maps": maps}


def descends(pid, from_pid):
    while pid > 1:
        if pid == from_pid:
            return True
        s = stat(pid)
        pid = s["parent"] if s else 0
    return False


def is_alive(pid):
    s = stat(pid)
    return s is not None and s["state"] not in "ZX"


def wait(what, condition):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.01)
    sys.exit("in vain: " + what)


def replay_of(command):
    if command.poll() is not None:
        sys.exit(f"the command ended, {command.returncode}")
    for entry in os.listdir("/proc"):
        if entry.isdigit() and descends(int(entry), command.pid):
            s = stat(int(entry))
            try:
                path = os.readlink(f"/proc/{entry}/exe")
            except OSError:
                continue
            if s and path.endswith("/lazybones-replay") and "memfd:lazybones-replay" in s["maps"]:
                return int(entry)
    return None


# a shell may have had the signals ignored
usual = lambda: [signal.signal(s, signal.SIG_DFL) for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
command = subprocess.Popen([program, "core", core, "peek", "slow"], preexec_fn=usual,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
replay = wait("a replay", lambda: replay_of(command))
os.kill(replay, signal.SIGSTOP)  # it does not end by itself
try:
    os.kill(command.pid, number)
    status = command.wait(60)
    wait("the end of the replay", lambda: not is_alive(replay))
finally:
    if is_alive(replay):
        os.kill(replay, signal.SIGKILL)
print("ended by signal", -status)
