# PyTorch in Python processes that only have it installed: each that is found here.

# The pythons that have PyTorch, each once by its version; $TORCH_PYTHON names more.
pythons()
{
	local python version seen=
	for python in $TORCH_PYTHON "$real/torch-2.13/bin/python" python3 /usr/bin/python3; do
		version=$("$python" -W ignore -c 'import torch; print(torch.__version__)' 2>/dev/null) || continue
		[[ " $seen " == *" $version "* ]] && continue
		seen="$seen $version"
		echo "$python $version"
	done
}

# torch_process PYTHON PROGRAM, or PROGRAM: one that rests; its commands are in $process, what it knows in $truth; until torch_released.
torch_process()
{
	local line
	truth=$scratch/truth
	coproc "$1" ${2:+-W ignore "tests/real/torch/$2"} "$truth" $given 2>/dev/null
	pid=$COPROC_PID
	process="$O/bin/lazybones pid $pid"
	while read -r -t 120 line <&"${COPROC[0]}" && [ "$line" != resting ]; do :; done
	[ "$line" = resting ]
}

torch_released()
{
	[ -z "${COPROC[1]:-}" ] || eval "exec ${COPROC[1]}>&-"
	wait $pid
}

# torch_lines COMMAND: of a list, what the truth has, too
torch_lines()
{
	$1 list --limit 0 --json | python3 -c '
import json, sys
for t in json.load(sys.stdin)["tensors"]:
    print(t["dtype"], str(tuple(t["shape"])), t["state"])' | sort
}

# torch_seen WHAT COMMAND: every tensor that Python knows is listed; the others are the library's own, and few
torch_seen()
{
	local more
	same "$1: every tensor that Python knows is listed" '' \
		"$(comm -23 <(sed -n 's/^tensor //p' "$truth" | sort) <(torch_lines "$2"))"
	more=$(comm -13 <(sed -n 's/^tensor //p' "$truth" | sort) <(torch_lines "$2") | wc -l)
	same "$1: none that was freed" few "$([ "$more" -le 12 ] && echo few || echo "$more more")"
}

# every STEP REGEX: how many each STEPth is of the lines of what the program knows
every()
{
	echo $((($(grep -c "$2" "$truth") + $1 - 1) / $1))
}

# torch_values WHAT STEP COMMAND…: what each STEPth tensor holds; `gdb` asks one gdb for all (ask.py)
torch_values()
{
	same "$1: their values" "$(every $2 ^sum) are the same" "$(python3 tests/real/torch/check.py "$truth" $2 ${*:3})"
}

# torch_named WHAT STEP COMMAND…: what the program's variables lead to is named by them, with each STEPth path
torch_named()
{
	same "$1: names, and paths as Python writes them" "$(grep -c ^name "$truth") names and $(every $2 ^path) paths are right" \
		"$(python3 tests/real/torch/names_check.py "$truth" $2 ${*:3})"
}

# torch_weights WHAT COMMAND: its parameters are those of the file that the program has saved them in
torch_weights()
{
	same "$1: its weights beside its state_dict()" "$(printf '%s of %s parameters are by name: %s equal' \
		$(sed -n "s/^model\t\([0-9]*\).*/\1 \1 \1/p" "$truth"))" \
		"$($2 weights "$truth.npz" 2>&1 | sed -n '1s/ in [^ ]* / /p')"
}

# torch_keys WHAT COMMAND: modules by keys and places, within expressions
torch_keys()
{
	same "$1: modules by keys and places" 'True True True True' "$(for of in \
		"array_equal(abs(model.towers['enc'].fc1.weight), abs(model.towers.enc.fc1.weight))" \
		'array_equal(model.towers["enc"].fc1.weight[0,:1] * 2, model.towers.enc.fc1.weight[0,:1] * 2)' \
		"array_equal(model.towers['a-b'][-1].bias - 1, 'model.towers.a-b.down.bias' - 1)" \
		"all(model.towers['a-b'][0].bias[model.towers['a-b'][0].bias > 0] > 0)"; do
		$2 print "$of" 2>&1 | tail -1
	done | tr '\n' ' ' | sed 's/ $//')"
	same "$1: what there is instead" "$(cat <<-'END'
		model has nothing under 'nope': it has 'layers', 'heads', 'towers', 'scales'
		model.layers has nothing under 7: it has 0, 1, 2
		model.towers has nothing under 'dec': it has 'enc', 'a-b'
		model.towers['a-b'] has nothing under 3: it has up, act, down
		batch has nothing under 'ids': it has 'input_ids', 7, "it's", 'größe', 'it\'s "both"'
		cache has no element 9: there are 4
		cache has nothing under 'ids': its elements have numbers
		model has nothing under 'nope': it has 'layers', 'heads', 'towers', 'scales'
	END
	)" "$(for of in "model['nope']" 'model.layers[7].fc1.weight' "model.towers['dec']" "model.towers['a-b'][3].bias" \
		"batch['ids']" 'cache[9][0]' "cache['ids']" "abs(model['nope']) + 1"; do
		$2 print "$of" 2>&1 | sed 's/^lazybones: //; q'
	done)"
}

# torch_frames WHAT COMMAND: of a frame that is named, what the functions have that it executes; the numbers are the interpreter's
torch_frames()
{
	local frame seen=none
	for ((frame = 0; frame < 200; frame += 4)); do
		seen=$($2 --frame $frame print shadow 2>&1 | head -1)
		[ "$seen" = 'hidden: float32 (5, 16)' ] || break
	done
	same "$1: of a named frame, the first of those further out" 'True shadow: float32 (14,)' \
		"$([ $frame -gt 0 ] && echo True) $seen"
}

torch_names()
{
	local what="torch $2, names" said=$scratch/said
	torch_process "$1" names.py || { skip "$what: it does not run here"; torch_released; return; }
	torch_named "$what, gdb" 1 gdb "$O" $pid
	torch_weights "$what" "$process"
	if strace true 2>/dev/null; then
		same "$what: it is not held without --stop" 0 "$(strace -f -e trace=ptrace $process list 2>&1 >/dev/null | grep -c 'ptrace(')"
		same "$what: with --stop it is, and let go before the command ends" 'PTRACE_DETACH process_vm_readv' \
			"$(strace -f -e trace=ptrace,process_vm_readv $process --stop list 2>&1 >/dev/null |
				grep -oE 'PTRACE_DETACH|process_vm_readv' | uniq | tail -2 | tr '\n' ' ' | sed 's/ $//')"
	fi
	same "$what: how many a function holds" '       … 104 more (`bt --all`)' \
		"$($process bt | sed -n '/ train at /,/^  #/p' | grep more)"
	same "$what: all that it holds" 102 "$($process bt --all --names | sed -n '/ train at /,/^  #/p' | grep -c ' = held')"
	torch_keys "$what" "$process"
	torch_frames "$what" "$process"
	if dump "$scratch/torch"; then
		torch_keys "$what, a core" "$O/bin/lazybones core $scratch/torch.$pid"
		torch_frames "$what, a core" "$O/bin/lazybones core $scratch/torch.$pid"
		torch_named "$what, a core" 4 "$O/bin/lazybones" core "$scratch/torch.$pid"
		torch_weights "$what, a core" "$O/bin/lazybones core $scratch/torch.$pid"
		rm -f "$scratch/torch.$pid"
	fi
	gdb -q -batch -nx -x "$O/lazybones.gdb" -p $pid -ex 'echo == as\n' -ex 'tensor print self.layers[1].scale' \
		-ex 'tensor print cache[-1][1]' -ex 'echo == threads\n' -ex 'thread apply all -s tensor print mine' \
		-ex 'thread 1' -ex 'echo == stack\n' -ex 'tensor bt' -ex 'echo == locals\n' -ex 'tensor locals' \
		-ex 'echo == frames\n' -ex 'frame apply 40 -q -s tensor print shadow' >"$said" 2>/dev/null
	same "$what, gdb: as Python writes them" "model.layers.1.scale: float32 (8,)"$'\n''cache[3][1]: float32 (4,)' \
		"$(sed -n '/^== as/,/^== threads/{/^[a-z].*: float32/p}' "$said")"
	same "$what, gdb: of the selected thread" '(2,) (3,)' \
		"$(sed -n '/^== threads/,/^== stack/{s/.*: float32 \(([23],)\)$/\1/p}' "$said" | sort | tr '\n' ' ' | sed 's/ $//')"
	same "$what, gdb: the stack" '       held = held' \
		"$(sed '/^== locals/,$d' "$said" | grep -A1 ' train at ' | sed -n 's/ (#.*//;$p')"
	same "$what, gdb: what a thread has in Python, behind a frame of C" '       taken = hidden' \
		"$(sed '1,/^== locals/d' "$said" | grep -A1 ' rest at ' | sed -n 's/ (#.*//;$p')"
	same "$what, gdb: of the selected frame, which is one of C" $'hidden: float32 (5, 16)\nshadow: float32 (14,)' \
		"$(sed '1,/^== frames/d' "$said" | grep '^[a-z].*: float32' | uniq | sed 2q)"
	same "$what: of a named thread" '(2,) (3,)' \
		"$(for tid in /proc/$pid/task/*; do $process --thread "${tid##*/}" print mine 2>/dev/null; done |
			sed -n 's/.*: float32 \(([23],)\)$/\1/p' | sort -u | tr '\n' ' ' | sed 's/ $//')"
	torch_released
}

# torch_memory PYTHON VERSION: what holds memory, and who keeps what no variable leads to
torch_memory()
{
	local what="torch $2, memory"
	torch_process "$1" memory.py || { skip "$what: it does not run here"; torch_released; return; }
	same "$what: by module, holder and device, what no variable leads to, and graphs" "$(grep -c . "$truth") are right" \
		"$(python3 tests/real/torch/memory_check.py "$truth" gdb "$O" $pid)"
	torch_released
}

# torch_top PYTHON VERSION: tensors come and go while it is watched
torch_top()
{
	local what="torch $2, top" try seen
	torch_process "$1" turnover.py || { skip "$what: it does not run here"; torch_released; return; }
	for try in 1 2 3 4 5; do
		seen=$("$O/bin/lazybones" top --once --json --interval 500 $pid | python3 -c '
import json, sys
top = json.load(sys.stdin)
print(top["tensors"]["born"] > 0 and top["tensors"]["gone"] > 0, top["devices"][0]["device"])
print(*sorted([m["bytes"], m["module"]] for m in top["modules"]))')
		[[ $seen == True* ]] && break
	done
	for try in 1 2 3 4 5; do # it may find too much in the middle of a change
		$process memory --save "$scratch/before" >/dev/null 2>&1 && break
	done
	for try in 1 2 3 4 5; do
		sleep 0.5
		# What is being made at that moment has no name yet.
		seen=$seen$($process memory --since "$scratch/before" |
			sed -n '/(no name)/d; s/^  *[+-][0-9.]* [KMB][iB]*  \(.*\): .*was.*/ \1/p')
		[[ $seen == *some* ]] && break
	done
	same "$what: by module and device, what was born and is gone; what has changed" \
		"True cpu"$'\n'"[$(((30 * 40 + 40) * 4)), 'model.0'] [$(((40 * 50 + 50) * 4)), 'model.1'] some[*]" "$seen"
	torch_released
}

. tests/real/ggml/build.sh

# A tensor of ggml's in blocks, to compare: *given is a file with its elements, $ggml a core that has it; or neither.
torch_given()
{
	local folder
	given= ggml=$scratch/ggml.core
	folder=$(ls -d "$real"/ggml-20* 2>/dev/null | tail -1)
	[ -n "$folder" ] && build_program || { skip "a tensor of ggml's: there is no ggml (tests/deps real)"; return; }
	mkdir -p "$scratch/ggml.d"
	{ (cd "$scratch/ggml.d" && ulimit -c unlimited && exec timeout 120 "$program" graph "$folder" abort); } \
		>/dev/null 2>&1 </dev/null
	mv "$scratch"/ggml.d/core* "$ggml" 2>/dev/null || { skip 'the kernel writes no core here'; return; }
	"$O/bin/lazybones" core "$ggml" save w.q8_0 "$scratch/given.npy" >/dev/null 2>&1 && given=$scratch/given.npy
}

# torch_compared WHAT CORE: of the two, in either order
torch_compared()
{
	local id
	id=$("$O/bin/lazybones" core "$2" list --limit 0 | sed -n 's/^\(#[0-9]*\) .*float32  *(16, 64) .*/\1/p')
	same "$1: a tensor of ggml's" '  all 1024 elements are equal' \
		"$("$O/bin/lazybones" core "$ggml" diff w.q8_0 "$2:$id" | sed -n 2p)"
	same "$1: beside one of ggml's" '  all 1024 elements are equal' \
		"$("$O/bin/lazybones" core "$2" diff "$id" "$ggml:w.q8_0" | sed -n 2p)"
}

# torch_autograd WHAT STEP COMMAND…: which of each STEPth tensor wants a gradient, which it has, and the graph of one, as Python
# knows them
torch_autograd()
{
	same "$1: autograd" "$(every $2 '^autograd [1-9]') tensors and $(grep -c ^node "$truth") nodes" \
		"$(python3 tests/real/torch/autograd.py "$truth" $2 ${*:3})"
}

torch_version()
{
	local what="torch $2"
	torch_process "$1" program.py || { skip "$what does not run here"; torch_released; return; }
	same "$what: how its layout was decided" 'as no other fits' "$($process status | sed -n 's/^ *layout .*, //p')"
	same "$what: what shares bytes is refused, and why" \
		"$(printf 'opaque[%d] cannot be shown: several of its elements share a byte, with zero points that are no integers\n' 0 1)" \
		"$(for i in 0 1; do $process print "opaque[$i]" 2>&1; done | sed 's/^lazybones: //')"
	torch_seen "$what, the process" "$process"
	torch_values "$what, the process" 7 $process
	torch_values "$what, gdb" 1 gdb "$O" $pid
	torch_autograd "$what, gdb" 1 gdb "$O" $pid
	if dump "$scratch/torch"; then
		torch_seen "$what, a core" "$O/bin/lazybones core $scratch/torch.$pid"
		torch_values "$what, a core" 7 "$O/bin/lazybones" core "$scratch/torch.$pid"
		[ -z "$given" ] || torch_compared "$what" "$scratch/torch.$pid"
		torch_autograd "$what, a core" 7 "$O/bin/lazybones" core "$scratch/torch.$pid"
		rm -f "$scratch/torch.$pid"
	else
		skip "$what: gdb writes no core here"
	fi
	same "$what, gdb: a quantised one" $'quantised[0]: quint8 (3,)\n[1. 2. 3.]' \
		"$(gdb -q -batch -nx -iex 'set auto-solib-add off' -x "$O/lazybones.gdb" -p $pid -ex 'tensor print quantised[0]' 2>/dev/null |
			grep -A1 '^quantised')"
	torch_released
}

torch_given
# A program in C++, by its variables.
torch_cpp()
{
	local what='torch in C++' said=$scratch/said program=$scratch/torch_cpp include=/usr/include/torch/csrc/api/include
	[ -d $include ] || { skip "$what: libtorch-dev is not there (tests/deps torch)"; return; }
	g++ -std=c++17 -g -isystem $include tests/real/torch/program.cc -o "$program" -ltorch -ltorch_cpu -lc10 \
		2>"$scratch/torch_cpp.log" || { skip "$what: it cannot be built here"; return; }
	gdb -q -batch -nx -x "$O/lazybones.gdb" -ex 'set debuginfod enabled off' -ex 'break rest' -ex run -ex up \
		-ex 'tensor print x' -ex 'tensor print list[0][0]' -ex 'tensor print list[1]' -ex 'tensor print maybe' \
		-ex 'tensor print shared' -ex 'tensor print list[2]' -ex 'frame 0' -ex 'tensor print argument' \
		-ex up -ex 'echo == locals\n' -ex 'tensor locals' "$program" >"$said" 2>&1 </dev/null
	same "$what: variables, and what holds a tensor" \
		"$(printf '%s\n' '#N: float32 (2, 3)' '#N[0]: float32 (2,)' '#N: float32 (4,)' '#N: float32 (2,)' \
			'#N: float32 (5,)' "tensor print: list has no element 2: there are 2" '#N: float32 (2, 3)')" \
		"$(sed -n 's/^#[0-9]*\(.*: float32\)/#N\1/p; /^tensor print: /p' "$said")"
	same "$what, gdb: locals" "$(printf '%s\n' 'x = #N (float32' 'maybe = #N (float32' 'shared = #N (float32')" \
		"$(sed '1,/^== locals/d' "$said" | sed -n 's/^ *\([a-z]*\) = #[0-9]* (float32.*/\1 = #N (float32/p')"
	torch_locals "$program"
}

# torch_catches PYTHON VERSION: a catch that cannot be is told at once: when it is set, or when the library comes
torch_catches()
{
	local what="torch $2, in gdb" why='each is computed within the call that makes it'
	[ -f "$O/lazybones.gdb" ] && command -v gdb >/dev/null || return
	same "$what: what cannot be caught is told, before it runs and then" "$(cat <<-END
		Catch 1: nan of any tensor.
		Catch 2: before y is computed.
		Catch 3: misuse of any tensor; this is of Lazybones' own runtime: nothing of PyTorch, MLX or ggml does it.
		The program's tensors of PyTorch are not caught: $why
		tensor catch: the program's tensors of PyTorch cannot be stopped at: $why
		tensor catch: the program's tensors of PyTorch cannot be stopped at: $why
		tensor follow: this reads the log of Lazybones' own runtime, which the program has not
		1: y: float32 (3,), ready: [nan nan nan]
		ended
	END
	)" "$(cat >"$scratch/catches.gdb" <<-'END'
		tensor catch nan
		tensor break y
		tensor catch misuse
		run
		tensor catch nan y
		tensor catch memory 1G
		tensor follow y
		tensor display y
		continue
		echo ended\n
	END
	timeout -k 5 600 gdb -nx -q -batch -iex 'set debuginfod enabled off' -iex 'set auto-load no' -iex 'set width 0' \
		-iex "source $O/lazybones.gdb" -x "$scratch/catches.gdb" --args "$1" -W ignore -c "if 1:
			import signal, torch
			y = torch.log(torch.zeros(3) - 1)
			signal.raise_signal(signal.SIGTRAP)" 2>&1 </dev/null |
		grep '^Catch\|^The program\|^tensor\|^1: \|^ended' | sed "s/\($why\|has not\).*/\1/")"
}

while read -r python version; do torch_catches "$python" "$version"; done < <(pythons | tail -1)

. tests/real/torch/scenes.sh

# torch_locals PROGRAM: the same program beside gdb: its variables by debug information
torch_locals()
{
	local what='torch in C++, without gdb'
	torch_process "$1" || { skip "$what: it does not run here"; torch_released; return; }
	same "$what: what variables hold" "$(printf '%s = #N (float32 %s, ready)\n' argument '(2, 3)' 'list[0]' '(3, 2)' \
		'list[1]' '(4,)' maybe '(2,)' x '(2, 3)' 'list[0]' '(3, 2)' 'list[1]' '(4,)' maybe '(2,)' shared '(5,)')" \
		"$($process threads | sed -n 's/^ *\([a-z0-9[]*]*\) = #[0-9]* (float32/\1 = #N (float32/p')"
	same "$what: expressions" "$(printf '%s\n' '(2, 3)' '(2,)' '(4,)' '(2,)' '(5,)' "list has no element 2: there are 2")" \
		"$(for of in x 'list[0][0]' 'list[1]' maybe shared 'list[2]'; do $process print "$of" 2>&1; done |
			sed -n "s/^#.*: float32 //p; s/^lazybones: \(list .*\)/\1/p")"
	same "$what: what is computed of them" 'True' "$($process print 'allclose((x @ list[0]).T, x @ list[0])' 2>&1 | tail -1)"
	torch_released
}

# torch_modules WHAT STANDARD INCLUDE [LIBRARIES]: of a program in C++, the names of its modules' parameters and buffers
torch_modules()
{
	local what="torch in C++ ($1), modules" program=$scratch/torch_modules where=${4:+-isystem $3 -L$4 -Wl,-rpath,$4}
	[ -d "$3/torch/csrc/api" ] || { skip "$what: its headers are not there (tests/deps torch, tests/deps real)"; return; }
	g++ -std=$2 -isystem "$3/torch/csrc/api/include" tests/real/torch/modules.cc $where -o "$program" -ltorch \
		-ltorch_cpu -lc10 2>"$scratch/torch_modules.log" || { skip "$what: it cannot be built here"; return; }
	torch_process "$program" || { skip "$what: it does not run here"; torch_released; return; }
	same "$what: all have their names" '' "$(comm -23 <(sed 's/^name\t//' "$truth" | sort) <($process list --limit 0 --json |
		python3 -c '
import json, sys
for t in json.load(sys.stdin)["tensors"]:
    print(int(t["data"] or "0", 0), t["name"], sep="\t")' | sort))"
	same "$what: by module" "$(sed -n 's/.*\t//; /^net\.layers\.2\.up\./p' "$truth" | grep -c .) buffers" \
		"$($process memory --by module --limit 0 | sed -n 's/.*  net\.layers\.2\.up: //p')"
	torch_released
}

torch_cpp
torch_modules 1.13 c++17 /usr/include
torch_modules 2.13 c++20 "$real"/torch-2.13/lib/python3.11/site-packages/torch/{include,lib}
found=$(pythons)
[ -n "$found" ] || skip 'torch: no python here has PyTorch (tests/deps torch, tests/deps real)'
while read -r python version; do
	[ -n "$python" ] || continue
	torch_version "$python" "$version"
	torch_names "$python" "$version"
	torch_memory "$python" "$version"
	scenes "$python" "$version"
	torch_top "$python" "$version"
done <<<"$found"
if fetched torch-2.13; then
	doctor torch "$real/torch-2.13/bin/python"
	# one thread: those of PyTorch spin while they wait for each other, and have little to do for a sentence
	same 'torch 2.13: examples/minilm tells what a package with the same weights does' '46 of 46 sentences are the same' \
		"$(OMP_NUM_THREADS=1 "$real/torch-2.13/bin/python" -W ignore tests/real/torch/minilm.py "$O/examples/minilm" 2>/dev/null)"
fi
