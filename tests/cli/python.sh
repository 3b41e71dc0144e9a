# A program in Python alone, alive and dead: what its threads execute.

python_program()
{
	local line core python=/usr/bin/python3
	"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { skip 'no Python of 3.11 or later'; return; }
	mkdir -p "$work/python"
	cat >"$work/python/waits.py" <<-'END'
		import os, sys, threading
		def wait(entered, left):
		    entered.set()
		    left.wait()
		def work():
		    wait(entered, threading.Event())
		entered = threading.Event()
		threading.Thread(target=work, daemon=True).start()
		entered.wait()
		class Server:
		    def serve(self):
		        os.write(1, b"waits\n")
		        os.abort()
		Server().serve()
	END
	(cd "$work/python" && exec "$python" waits.py) >/dev/null 2>&1
	core=$(echo "$work/python"/core*)
	[ -e "$core" ] || { skip 'a core of Python: none was written'; return; }
	line=$("$O/bin/lazybones" core "$core" report | sed -n 's/^  \(py\)*#\([0-9]\) *\(.* at .*waits.py\)/\2 \3/p' | tr '\n' ';')
	expect 'Python, a core: who died' \
		"0 Server.serve at $work/python/waits.py:13;1 <module> at $work/python/waits.py:14;" "$line"
	check 'Python, a core: another thread' "in Python Condition.wait at " report "$core"
	check 'Python, a core: its caller' "#2   wait at $work/python/waits.py:4" core "$core" bt
	check 'Python, a core: the functions alone' '#0   Server.serve at ' core "$core" bt --bare
	head -c $(($(stat -c %s "$core") / 10)) "$core" >"$work/python/cut"
	check 'Python, a core of which a tenth is left' 'the core is truncated, and may lack it' core "$work/python/cut" bt
	check 'Python, a core: no tensors' 'no Lazybones runtime in this program' core "$core" list
	check 'Python, a core: as JSON' '{"frame":0,"function":"Server.serve","file":' core "$core" bt --json
	line=$("$O/bin/lazybones" core "$core" threads --json | python3 -c '
import json, sys
frames = json.load(sys.stdin)["threads"][0]["frames"]
print(sum("PyEval_EvalFrame" in (frame["function"] or "") for frame in frames) > 0)')
	expect 'Python, a core: frames of the interpreter, as JSON' True "$line"
	line=$("$O/bin/lazybones" core "$core" report)
	expect 'Python, a core: as a text' "frames of Python" "$line"
	expect 'Python, a core: none by its name' 0 "$(grep -c PyEval_EvalFrame <<<"$line")"
	python_subinterpreter "$python"
	python_and_c "$python"
	python_exception "$python"
}

# What is handled where it died, and what it came from, as Python prints them.
python_exception()
{
	local core lines
	mkdir -p "$work/exception"
	cat >"$work/exception/broken.py" <<-'END'
		import os, traceback
		def get(weights, key):
		    return weights[key]
		def load(path):
		    try:
		        return get({}, "fc1")
		    except KeyError as e:
		        raise ValueError("no weights in " + path) from e
		try:
		    load("x.pt")
		except ValueError:
		    traceback.print_exc()
		    os.abort()
	END
	(cd "$work/exception" && exec "$1" broken.py) >/dev/null 2>"$work/exception/printed"
	core=$(echo "$work/exception"/core*)
	[ -e "$core" ] || { skip 'a core of an exception: none was written'; return; }
	lines=$("$O/bin/lazybones" core "$core" report | grep -A1 '^ *handles' | tr '\n' ';')
	expect 'Python, an exception that is handled, and its cause' \
		"  handles ValueError: no weights in x.pt, raised in load at $work/exception/broken.py:8;    caused by KeyError: 'fc1', raised in get at $work/exception/broken.py:3;" "$lines"
	"$O/bin/lazybones" report "$core" -o "$work/exception/report.html" >/dev/null
	check_page 'Python, an exception: on the page' 'ValueError: no weights in x.pt, raised in load at ' "$work/exception/report.html"
	check_page 'Python, the stack on the page' "#0  &#60;module&#62; at $work/exception/broken.py:13" "$work/exception/report.html"
	expect 'Python, an exception: as Python prints it' "KeyError: 'fc1';ValueError: no weights in x.pt;" \
		"$(grep '^[A-Z][A-Za-z]*Error: ' "$work/exception/printed" | tr '\n' ';')"
	check 'Python, an exception: as JSON' '"exceptions":[{"is":"handled","type":"ValueError","message":"no weights in x.pt"' \
		core "$core" bt --bare --json
	check 'Python, an exception: of a thread' "  handles ValueError: no weights in x.pt, raised in load at " core "$core" threads
}

# C that Python calls, and that calls Python: each stands where it was called from.
python_and_c()
{
	local core line
	"$1" -c 'import ctypes' 2>/dev/null || { skip 'a Python with ctypes'; return; }
	mkdir -p "$work/sort"
	cat >"$work/sort/sort.py" <<-'END'
		import ctypes, os
		libc = ctypes.CDLL(None)
		@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
		def compare(a, b):
		    os.abort()
		def sort():
		    libc.qsort((ctypes.c_int * 4)(4, 3, 2, 1), 4, 4, compare)
		sort()
	END
	(cd "$work/sort" && exec "$1" sort.py) >/dev/null 2>&1
	core=$(echo "$work/sort"/core*)
	[ -e "$core" ] || { skip 'a core of Python and C: none was written'; return; }
	line=$("$O/bin/lazybones" core "$core" threads |
		grep -oE ' in (abort|ffi_call)|^  py#[0-9]+ +[^ ]+| of Python.s interpreter' | tr -d '\n')
	expect 'Python and C in one stack' ' in abort  py#0  compare in ffi_call  py#1  sort  py#2  <module> of Python'"'"'s interpreter' "$line"
	line=$("$O/bin/lazybones" core "$core" threads --json | python3 -c '
import json, sys
thread = json.load(sys.stdin)["threads"][0]
names = {frame["frame"]: frame["function"] for frame in thread["frames"]}
print(*[(f["function"], names[f["c_frame"]].split(".")[0]) for f in thread["python"]])')
	expect 'Python and C in one stack, as JSON' "('compare', '_PyEval_EvalFrameDefault') ('sort', '_PyEval_EvalFrameDefault')" "$line"
}

# One thread that runs two interpreters is told once, with the functions of both.
python_subinterpreter()
{
	local core lines
	"$1" -c 'import _xxsubinterpreters' 2>/dev/null || { skip 'a Python with subinterpreters'; return; }
	mkdir -p "$work/two"
	cat >"$work/two/two.py" <<-'END'
		import _xxsubinterpreters as interpreters
		interpreters.run_string(interpreters.create(), "import os\nos.abort()")
	END
	(cd "$work/two" && exec "$1" two.py) >/dev/null 2>&1
	core=$(echo "$work/two"/core*)
	[ -e "$core" ] || { skip 'a core of two interpreters: none was written'; return; }
	lines=$("$O/bin/lazybones" core "$core" bt --bare | sed 's/^thread .*/thread/' | tr '\n' ';')
	expect 'Python, two interpreters: one thread' \
		"thread;  in Python $("$1" -c 'import platform; print(platform.python_version())');  #0   <module> at <string>:2;  #0   <module> at $work/two/two.py:2;" "$lines"
}
