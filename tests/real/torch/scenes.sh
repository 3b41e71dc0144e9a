# Programs at the moment when somebody debugs them (scenes.py), by each PyTorch that can play it.

# scene WHAT PYTHON NAME: it rests, with all tensors that Python knows listed, and each by its names; false: skipped
scene()
{
	given=$3 torch_process "$2" scenes.py || { skip "$1: it does not run here"; torch_released; return 1; }
	same "$1: every tensor that Python knows is listed" '' \
		"$(comm -23 <(sed -n 's/^tensor //p' "$truth" | sort) <(torch_lines "$process"))"
	same "$1: names, and paths as Python writes them" \
		"$(grep -c ^name "$truth") names and $(grep -c ^path "$truth") paths are right" \
		"$(python3 tests/real/torch/names_check.py "$truth" 1 $process)"
}

# The processes that load its data have their share of it.
scene_train()
{
	local worker
	scene "$1" "$2" train || return
	same "$1: it has two workers" 2 "$(grep -c ^worker "$truth")"
	for worker in $(sed -n 's/^worker\t//p' "$truth"); do
		same "$1: a worker" $'   data _worker_loop at\ndataset.tokens: int64 (64, 12), ready' \
			"$($O/bin/lazybones pid $worker bt | sed -n 's/^  #[0-9]*  *\(_worker_loop at\).*/   data \1/p'
			$O/bin/lazybones pid $worker info dataset.tokens | head -1)"
	done
	torch_released
}

scene_rests()
{
	scene "$1" "$2" "$3" && torch_released
}

# A model that comes with its weights is what its file says.
scene_packaged()
{
	local file
	scene "$1" "$2" packaged || return
	file=$(sed -n 's/^checkpoint\t\(.*\)\t.*/\1/p' "$truth")
	same "$1: beside the file that it was loaded from" "$(sed -n 's/^checkpoint.*\t//p' "$truth") equal" \
		"$($process weights "$file" | sed -n '1s/.*by name: //p')"
	torch_released
}

# The core of what had no memory left tells what holds it.
scene_exhausted()
{
	scene "$1" "$2" exhausted || return
	if dump "$scratch/exhausted"; then
		"$O/bin/lazybones" core "$scratch/exhausted.$pid" report >"$scratch/exhausted"
		same "$1: who holds the memory" 1 "$(grep -c '^ *16 MiB .* 4 buffers of held\[\*\]$' "$scratch/exhausted")"
		same "$1: the exception" "$(sed -n 's/^exception\t\([^\t]*\)\t/\1: /p' "$truth" | head -1)" \
			"$(sed -n 's/^ *handles \(.*\), raised in exhausted at .*scenes\.py:[0-9]*$/\1/p' "$scratch/exhausted")"
		rm -f "$scratch/exhausted.$pid"
	fi
	torch_released
}

# Each of the two that wait is seen where it waits, with what it holds.
scene_deadlock()
{
	scene "$1" "$2" deadlock || return
	same "$1: both threads" $'float32 (2,)\nfloat32 (3,)' \
		"$($process bt | grep -A1 'deadlock.<locals>.take at ' | sed -n 's/.*mine = 0x.* (\(float32 .*\), ready)/\1/p' | sort)"
	torch_released
}

# The core of a crash in C++: its line, who called it in Python, and the NaN that it was given.
scene_crash()
{
	local library=$scratch/crash.so torch program=$PWD/tests/real/torch/scenes.py report
	torch=$("$2" -W ignore -c 'import torch; print(torch.__path__[0])')
	[ -d "$torch/include" ] || { skip "$1: its headers are not there"; return; }
	g++ -std=c++20 -g -O1 -fPIC -shared -isystem "$torch/include" tests/real/torch/crash.cc -o "$library" \
		-L"$torch/lib" -ltorch -ltorch_cpu -lc10 2>"$scratch/crash.log" || { skip "$1: it cannot be built here"; return; }
	mkdir -p "$scratch/crash.d"
	{ (cd "$scratch/crash.d" && ulimit -c unlimited && exec "$2" -W ignore "$program" "$scratch/truth" crash "$library"); } \
		>/dev/null 2>&1 </dev/null
	mv "$scratch"/crash.d/core* "$scratch/crash.core" 2>/dev/null || { skip "$1: the kernel writes no core here"; return; }
	report=$("$O/bin/lazybones" core "$scratch/crash.core" report)
	same "$1: the report" "$(printf '%s\n' 'died of SIGSEGV' 'in reach at tests/real/torch/crash.cc' "crash at $program" \
		'weight = weight (#1, float32 (8,), ready)' 'weight (#1, float32 (8,), ready) holds 1 NaN and 0 Inf among 8 values, the first at [3]')" \
		"$(sed -n 's/.*\(died of [A-Z]*\).*/\1/p; s/^  py#[0-9]* *\(crash at .*\):[0-9]*$/\1/p; s/^ *\(weight = .*\)/\1/p
		s/^  #0 .* \(in reach at .*\):[0-9]*$/\1/p; s/^  - //p' <<<"$report")"
	same "$1: what called a frame of C" '       args[0] = weight (#1, float32 (8,), ready)' \
		"$("$O/bin/lazybones" core "$scratch/crash.core" frame 0 | grep -A1 '^  py#0' | tail -1)"
	rm -f "$scratch/crash.core"
}

# scenes PYTHON VERSION
scenes()
{
	local name
	for name in train script exhausted deadlock compile packaged crash; do
		case $name in
		script | deadlock | compile | packaged | crash) [[ $2 = 1.* ]] && continue ;; # older, or no other than a newer one
		esac
		case $name in
		script | compile) scene_rests "torch $2, $name" "$1" $name ;;
		*) scene_$name "torch $2, $name" "$1" ;;
		esac
	done
}
