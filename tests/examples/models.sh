# The examples that are models; a part of tests/examples/run, whose functions it uses.

# prints STATUS PATTERN COMMAND…: that status, and a line that matches
prints()
{
	local status=0 expected=$1 pattern=$2
	shift 2
	timeout 600 "$@" >"$tmp/out" 2>&1 || status=$?
	cat "$tmp/out"
	echo "(exit status $status)"
	[ $status -eq "$expected" ] && grep -qE -- "$pattern" "$tmp/out"
}

# ---- dit ----

dit=$O/examples/dit

dit_tests()
{
	ok "dit" prints 0 '^dit: ok' "$dit"
	ok "dit --swapped" prints 1 'block0.attention.shift is the first' "$dit" --swapped
	ok "dit --swapped=gate" prints 1 'block0.attention.scale is the first' "$dit" --swapped=gate
	ok "dit --swapped=nonsense" prints 2 'scale or gate' "$dit" --swapped=nonsense
	ok "dit --help" exits 0 "$dit" --help
}

# same|differ [--swapped]: whether the lazy shift is the part of the modulation where it should be
dit_shift_in_gdb()
{
	local shown shift reference
	shown=$(values_in_gdb "$dit $2" compare 'tensor peek block0.attention.shift[0, 0, 0:4]' \
		'tensor peek block0.modulation[0, 0:4]')
	cat "$tmp/log"
	shift=$(sed -n 1p <<<"$shown" | xargs) reference=$(sed -n 2p <<<"$shown" | xargs)
	[ "$(wc -w <<<"$shift $reference")" -eq 8 ] || return 1
	if [ "$1" = same ]; then
		[ "$shift" = "$reference" ]
	else
		[ "$shift" != "$reference" ]
	fi
}

# OFFSET [--swapped]: where gdb says that the shift lies
dit_offset_in_gdb()
{
	in_gdb "$dit $2" compare 'tensor info block0.attention.shift'
	grep -qE "^  offset +$1 elements" "$tmp/log"
}

# ---- fp4 ----

fp4=$O/examples/fp4

# PATTERN COMMAND…: the first lines that fp4 prints are as they should be, then none is
fp4_goes_wrong()
{
	local pattern=$1
	shift
	exits 1 "$@" >"$tmp/out"
	cat "$tmp/out"
	grep '^[0-9]' "$tmp/out" | head -1 | grep -qv WRONG &&
		! grep '^[0-9]' "$tmp/out" | tail -n +2 | grep -qv WRONG &&
		sed -n 2p "$tmp/out" | grep -qE "$pattern"
}

fp4_tests()
{
	local mode n
	for mode in mxfp4 nvfp4 mxfp8 affine4; do
		for n in 1 3 8; do
			ok "fp4 $mode, a prompt of $n" prints 0 '^fp4: ok' "$fp4" --mode=$mode --prompt=$n
		done
	done
	ok "fp4 --bug=nan" fp4_goes_wrong '4 tokens .* nan +nan +nan' "$fp4" --bug=nan
	ok "fp4 --bug=stride" fp4_goes_wrong '2 tokens .*[0-9]' "$fp4" --bug=stride --prompt=1
	ok "fp4 --bug=nonsense" prints 2 'nan or stride' "$fp4" --bug=nonsense
	ok "fp4 --mode=nonsense" prints 2 'mxfp4, nvfp4' "$fp4" --mode=nonsense
	ok "fp4 --prompt=9" prints 2 'from 1 to 8' "$fp4" --prompt=9
}

fp4_nan_in_gdb()
{
	in_gdb "$fp4 --bug=nan" run 'tensor catch nan' continue 'tensor peek fp4.values --stats' \
		'break print_step if tokens == 4' continue 'tensor print cache.v.scales[3, 1]'
	grep -qF 'fp4.values: float16' "$tmp/log" &&
		grep -qE '1 (Inf|inf)|(Inf|inf) +1\b' "$tmp/log" && tail -1 "$tmp/log" | grep -qF '[255]'
}

# where a result is beyond the largest f16
fp4_range_in_gdb()
{
	in_gdb "$fp4 --bug=nan" run 'tensor catch range fp4.values -65504 65504' continue
	tr -s '\n ' ' ' <"$tmp/log" | grep -qE 'to inf, the range is .* fp4.values: float16'
}

fp4_access_in_gdb()
{
	in_gdb "$fp4 --bug=stride" run 'tensor catch access' continue
	grep -qE '^#[0-9]+ .* decode .*kernel.c:[0-9]+$' "$tmp/log"
}

fp4_stride_in_gdb()
{
	in_gdb "$fp4 --bug=stride" run 'tensor catch misuse' continue
	tr -s '\n ' ' ' <"$tmp/log" | grep -qF 'made by transpose in open_cache' &&
		grep -q 'in locate .*raw=true' "$tmp/log"
}

# ---- llama ----

llama=$O/examples/llama llamas=$tmp/llamas
numpy=("$python" "$here/make_llama.py") kinds_numpy=("$python" "$here/make_kinds.py")
ids=1,77,300,12,5,350,351,200,40 # PROMPT in make_llama.py

# NAME: its file or folder
llama_of()
{
	[ -d "$llamas/$1" ] && echo "$llamas/$1" || echo "$llamas/$1.gguf"
}

# NAME TOLERANCE [OPTION…]: the logits are those of NumPy
llama_logits()
{
	exits 0 "$llama" "$(llama_of "$1")" --ids=$ids -n 0 --logits="$tmp/logits.npy" "${@:3}" &&
		"${numpy[@]}" --logits "$tmp/logits.npy" "$llamas/$1.npy" "$2"
}

# NAME [OPTION…]: the likeliest tokens that follow are those of NumPy
llama_greedy()
{
	"$llama" "$(llama_of "$1")" --ids=$ids -n 12 -t 0 --ignore-end --json "${@:2}" >"$tmp/out" ||
		return 1
	cat "$tmp/out" "$llamas/$1.greedy"
	grep -qF "\"ids\": [$(cat "$llamas/$1.greedy")]" "$tmp/out"
}

# NAME TEXT: the tokens are those of a tokenizer in Python
llama_tokens()
{
	local ours theirs
	ours=$("$llama" "$(llama_of "$1")" --prompt="$2" --tokenize) || return 1
	theirs=$("${numpy[@]}" --tokens "$1" "$2") || return 1
	echo "$ours / $theirs"
	[ "$ours" = "$theirs" ]
}

# --buggy changes all positions but the first
llama_buggy()
{
	exits 0 "$llama" "$llamas/F32.gguf" --ids=$ids -n 0 --buggy --logits="$tmp/buggy.npy" &&
		"$python" -c "import sys, numpy as np
got, right = (np.load(f) for f in sys.argv[1:])
off = np.abs(got - right).max(-1) / np.abs(right).max()
print(off)
sys.exit(int(off[0] > 1e-5 or off[1:].min() < 1e-3))" "$tmp/buggy.npy" "$llamas/F32.npy"
}

# text on stdout and figures on stderr; with --json all of it at once, and what was drawn again
llama_output()
{
	local n
	"$llama" "$llamas/F32.gguf" -p 'hello world' -n 20 --seed 7 --ignore-end >"$tmp/text" 2>"$tmp/err" ||
		return 1
	"$llama" "$llamas/F32.gguf" -p 'hello world' -n 20 --seed 7 --ignore-end --json >"$tmp/json" || return 1
	cat "$tmp/err" "$tmp/json"
	for n in 'First call: [0-9.]+ ms' 'Prompt: 3 tokens, [0-9.]+ tokens/s' \
			'Generation: 20 tokens, [0-9.]+ tokens/s' 'Peak memory: [0-9.]+ MiB'; do
		grep -qE "^$n\$" "$tmp/err" || return 1
	done
	"$python" -c "import json, sys
x = json.load(open(sys.argv[2]))
text = open(sys.argv[1], 'rb').read()[:-1].decode(errors='surrogateescape')
plain = lambda s: ''.join(c for c in s if ord(c) < 128)
assert len(x['ids']) == x['generation_tokens'] == 20 and x['prompt_tokens'] == 3
assert plain(text) == plain(x['text'])
assert x['generation_tps'] > 0 and x['prompt_tps'] > 0 and x['peak_memory'] > 0" "$tmp/text" "$tmp/json"
}

# draws from the likeliest alone are the likeliest
llama_sampling()
{
	local option
	for option in --top-k=1 --top-p=0 --temperature=0.0001; do
		llama_greedy F32 -t 1 "$option" --seed=3 || return 1
	done
	! llama_greedy F32 -t 2 --top-k=0 --top-p=1 --seed=3
}

# NAME: the texts of make_kinds.py become the tokens that they become in Python
llama_texts()
{
	local line
	while IFS= read -r line; do
		"$llama" "$llamas/$1.gguf" --tokenize --prompt="$line" || return 1
	done < <("${kinds_numpy[@]}" --texts) >"$tmp/tokens"
	diff "$tmp/tokens" <("${kinds_numpy[@]}" --tokens "$1")
}

# PATTERN NAME KEY VALUE: what is said of a file in which that is the value
llama_complains()
{
	ok "llama, $3 is $4" "${kinds_numpy[@]}" --changed "$tmp/changed.gguf" "$2" "$3" "$4"
	ok "llama says that $3 is $4" complains 1 "$1" "$llama" "$tmp/changed.gguf" -p x
}

llama_kinds()
{
	local name
	ok "kinds of models by NumPy" "${kinds_numpy[@]}" "$llamas"
	for name in $("${kinds_numpy[@]}" --names); do
		ok "llama, $name" llama_logits "$name" 1e-5
		ok "llama, $name writes" llama_greedy "$name"
		ok "llama, texts to $name" llama_texts "$name"
	done
	ok "llama, gemma3 without a cache" llama_greedy gemma3 --no-cache
	llama_complains "'general.architecture' is 'phi3', none of llama, qwen2" llama general.architecture "'phi3'"
	llama_complains "there is no 'qwen2.embedding_length'" qwen2 qwen2.embedding_length None
	llama_complains "'gemma3.block_count' is 0, not a number from 1" gemma3 gemma3.block_count 0
	llama_complains "'qwen3.attention.head_count_kv' is a list" qwen3 qwen3.attention.head_count_kv '[2, 2]'
	llama_complains '4 heads cannot share 3 key heads' qwen3 qwen3.attention.head_count_kv 3
	llama_complains 'values of 16 features beside keys of 18' llama llama.attention.key_length 18
	llama_complains "'gemma.attention.head_count' is 4294967295" gemma gemma.attention.head_count 4294967295
	llama_complains "'qwen2.rope.freq_base' is 'inf'" qwen2 qwen2.rope.freq_base 1e999
	llama_complains 'rope base of -1' qwen2 qwen2.rope.freq_base -1.0
	llama_complains "'qwen2.rope.scaling.type' is 'longrope', none of" qwen2-yarn qwen2.rope.scaling.type "'longrope'"
	llama_complains 'YaRN .* and a scale of 2' qwen2-yarn qwen2.rope.scaling.factor 0.5
	llama_complains "'gemma2.attention.sliding_window' is 4000000000" gemma2 gemma2.attention.sliding_window 4000000000
	llama_complains 'caps them at -1' gemma2 gemma2.attn_logit_softcapping -1.0
	llama_complains "'tokenizer.ggml.pre' is 'tekken', none of" qwen2 tokenizer.ggml.pre "'tekken'"
	llama_complains 'bos_token_id 512 is not a token' llama tokenizer.ggml.bos_token_id 512
}

llama_rejects()
{
	local bad=$tmp/bad n
	for n in 3 100 5000 100000; do
		head -c $n "$llamas/F32.gguf" >"$bad.gguf"
		ok "llama, $n bytes" complains 1 'bad.gguf' "$llama" "$bad.gguf" -p x
	done
	sed 's/blk.1.ffn_up/blk.1.ffn_UP/' "$llamas/F32.gguf" >"$bad.gguf"
	ok "llama, a missing tensor" complains 1 "no 'model.layers.1.mlp.up_proj'" "$llama" "$bad.gguf" -p x
	sed 's/llama.block_count/llama.block_CONUT/' "$llamas/F32.gguf" >"$bad.gguf"
	ok "llama, no layers" complains 1 "there is no 'llama.block_count'" "$llama" "$bad.gguf" -p x
	sed 's/tokenizer.ggml.scores/tokenizer.ggml.SCORES/' "$llamas/F32.gguf" >"$bad.gguf"
	ok "llama, no scores" complains 1 'no tokenizer.ggml.scores' "$llama" "$bad.gguf" -p x
	mkdir "$bad"
	ok "llama, an empty folder" complains 1 'config.json' "$llama" "$bad" -p x
	cp "$llamas/hf/config.json" "$bad"
	ok "llama, no weights" complains 1 'no \*.safetensors' "$llama" "$bad" -p x
	cp "$llamas/hf/"*.safetensors "$bad"
	ok "llama, no tokenizer" complains 1 'tokenizer.json' "$llama" "$bad" -p x
	sed -i 's/"intermediate_size": [0-9]*/"intermediate_size": 64/' "$bad/config.json"
	ok "llama, other sizes" complains 1 'is not a matrix of' "$llama" "$bad" -p x
	ok "llama, no such file" complains 1 'No such file' "$llama" "$tmp/nothing.gguf" -p x
	ok "llama, a token too many" complains 1 'outside the model' "$llama" "$llamas/F32.gguf" --ids=384
	ok "llama, no prompt" complains 1 'empty prompt' "$llama" "$llamas/F16.gguf"
	ok "llama, a long prompt" complains 1 "context holds 64" "$llama" "$llamas/F32.gguf" \
		-p "$(seq -s, 40)"
	ok "llama, no model" prints 2 'which model' "$llama"
	ok "llama --top-p=2" prints 2 'from 0 to 1' "$llama" model --top-p=2
}

llama_tests()
{
	local name text
	if [ ! -x "$llama" ]; then
		skip 1 "examples/llama is not built (libjansson-dev)"
		return
	fi
	ok "models by NumPy" "${numpy[@]}" "$llamas"
	for name in F32 Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q4_K Q5_K MXFP4 hf mlx; do
		ok "llama $name" llama_logits $name 1e-5
	done
	ok "llama F16" llama_logits F16 5e-3
	ok "llama BF16" llama_logits BF16 4e-2
	ok "llama says what it decodes" prints 0 '^llama: 16 matrices in blocks .* float16: 2.6 MiB$' "$llama" "$llamas/Q6_K.gguf" \
		--ids=$ids -n 0
	ok "llama Q6_K" llama_logits Q6_K 5e-3 # its weights become f16
	ok "llama, mixed" llama_logits mixed 5e-3
	for name in F32 Q4_0 Q8_0 Q4_K MXFP4 hf mlx; do
		ok "llama $name writes" llama_greedy $name
	done
	ok "llama without a cache" llama_greedy F32 --no-cache
	for name in F32 F16 hf mlx; do
		for text in 'hello world' '' "Hello, the WORLD's 123 12345  é 日本!  " $' a  b\n\n world\n'; do
			ok "llama $name tokens '$text'" llama_tokens $name "$text"
		done
	done
	ok "llama --buggy" llama_buggy
	ok "llama's output" llama_output
	ok "llama's sampling" llama_sampling
	llama_kinds
	llama_rejects
}

# --buggy leaves position 0 of the lazy keys as it is, and turns position 1 otherwise
llama_keys_in_gdb()
{
	local option i shown=()
	for option in '' --buggy; do
		for i in 0 1; do
			shown+=("$(values_in_gdb "$llama $llamas/F32.gguf --ids=$ids $option" sample \
				"tensor peek layer0.keys[0, 0, $i, 0:4]" | xargs)")
		done
	done
	printf '%s\n' "${shown[@]}"
	[ "$(wc -w <<<"${shown[*]}")" -eq 16 ] && [ "${shown[0]}" = "${shown[2]}" ] &&
		[ "${shown[1]}" != "${shown[3]}" ]
}

# ---- train and generate ----

train=$O/examples/train generate=$O/examples/generate trained=$tmp/trained.safetensors
small=(--steps=60 --width=2 --layers=2 --context=64 --rate=0.005)

# The loss of so few steps, from 4.3 by chance, where knowing how often each letter comes gives 3.1.
train_learns()
{
	exits 0 "$train" "${small[@]}" "$trained" >"$tmp/out" 2>"$tmp/err"
	cat "$tmp/out" "$tmp/err"
	grep -qE '[0-9]+ weights, [0-9]+ characters of [0-9]+ kinds: loss 4\.[0-9]+ by chance' "$tmp/out" &&
		awk '/^60 steps, loss/ { ok = $4 + 0 < 2.9 && $8 + 0 < 3.0 } END { exit !ok }' "$tmp/out" &&
		[ "$(grep -cE '^ *[0-9]+%  ETA [0-9]+:[0-9]+  step [0-9]+  loss [0-9.]+$' "$tmp/err")" -eq 10 ] &&
		grep -qF 'saved' "$tmp/out"
}

train_metadata()
{
	"$python" -c "import json, struct, sys
data = open(sys.argv[1], 'rb').read()
header = json.loads(data[8:8 + struct.unpack('<Q', data[:8])[0]])
config = header.pop('__metadata__')
width, kinds = int(config['hidden_size']), len(config['alphabet'].split())
assert header['model.embed_tokens.weight']['shape'] == [kinds, width] == [kinds, 64]
assert header['model.layers.1.mlp.down_proj.weight']['shape'] == [width, int(config['intermediate_size'])]
assert len(header) == 2 + 2 * 9 and int(config['num_hidden_layers']) == 2" "$trained"
}

# The same seed gives the same file, byte by byte.
train_repeats()
{
	local n
	for n in 1 2; do
		exits 0 "$train" --steps=3 --width=1 --layers=1 --context=16 "$tmp/again$n.safetensors" || return 1
	done
	cmp "$tmp/again1.safetensors" "$tmp/again2.safetensors"
}

# Ctrl-C, once the first tenth is told: saves what has been learnt
train_interrupted()
{
	local pid line status=0
	rm -f "$tmp/fifo" "$tmp/early.safetensors"
	mkfifo "$tmp/fifo"
	exec 9<>"$tmp/fifo" # open to the end, whoever reads
	(trap - INT; exec "$train" --steps=1000 --width=1 --layers=1 --context=16 "$tmp/early.safetensors") \
		>"$tmp/out" 2>"$tmp/fifo" &
	pid=$!
	read -r -t 100 line <&9
	kill -INT $pid
	wait $pid || status=$?
	exec 9>&-
	cat "$tmp/out"
	echo "$line (exit status $status)"
	[[ $line == *10%* ]] && [ $status -eq 130 ] && grep -q '^saved .*, interrupted$' "$tmp/out" &&
		exits 0 "$generate" "$tmp/early.safetensors" -p x -n 2
}

# On a terminal: one line, no wider than that, drawn again and again
train_bar()
{
	script -qec "stty cols $1; $train --steps=20 --width=1 --layers=1 --context=16 $tmp/bar.safetensors" \
		/dev/null </dev/null >"$tmp/out" || return 1
	tr '\r' '\n' <"$tmp/out" | sed 's/\x1b\[K//' | grep '^\[[#.]*' >"$tmp/bars"
	cat "$tmp/bars"
	[ -s "$tmp/bars" ] && awk -v most=$(($1 - 1)) 'length > most { wide = 1 } END { exit wide }' "$tmp/bars" &&
		tail -1 "$tmp/bars" | grep -q "$2"
}

# the likeliest characters, with a cache, without one, and one by one
generate_greedy()
{
	local option text=() all=("$generate" "$trained" -p 'the ' -n 40 -t 0)
	for option in --tokens=40 --no-cache --buggy; do
		text+=("$("${all[@]}" "$option" 2>/dev/null)") || return 1
	done
	printf '%s\n' "${text[@]}"
	[ ${#text[0]} -ge 30 ] && [ "${text[0]}" = "${text[1]}" ] && [ "${text[0]}" = "${text[2]}" ]
}

# one seed, one text; another, another
generate_seeds()
{
	local seed text=()
	for seed in 1 1 2; do
		text+=("$("$generate" "$trained" -n 40 --seed=$seed --json |
			sed 's/.*"ids": \[\([^]]*\)\].*/\1/')") || return 1
	done
	printf '%s\n' "${text[@]}"
	[ "$(wc -w <<<"${text[0]}")" -eq 40 ] && [ "${text[0]}" = "${text[1]}" ] && [ "${text[0]}" != "${text[2]}" ]
}

# the figures, and no further than the context of 64
generate_output()
{
	"$generate" "$trained" -p 'the GNU ' >"$tmp/out" 2>"$tmp/err" || return 1
	cat "$tmp/out" "$tmp/err"
	grep -qE '^First call: [0-9.]+ ms$' "$tmp/err" && grep -qE '^Prompt: 8 tokens, [0-9.]+ tokens/s$' "$tmp/err" &&
		grep -qE '^Generation: 56 tokens, [0-9.]+ tokens/s$' "$tmp/err" &&
		grep -qE '^Peak memory: [0-9.]+ MiB$' "$tmp/err"
}

train_tests()
{
	ok "train learns" train_learns
	ok "train's metadata" train_metadata
	ok "train repeats itself" train_repeats
	ok "train, interrupted" train_interrupted
	ok "train's bar" train_bar 60 'ETA 0:00  step 20'
	ok "train's bar, narrow" train_bar 30 '100%'
	ok "train --buggy" prints 0 '^running mean [0-9.]+' "$train" --steps=3 --width=1 --layers=1 --context=16 \
		--buggy "$tmp/buggy.safetensors"
	ok "train, no such text" complains 1 'No such file' "$train" --text="$tmp/nothing" "$tmp/x.safetensors"
	echo "too short" >"$tmp/short"
	ok "train, a short text" complains 1 'too few' "$train" --text="$tmp/short" "$tmp/x.safetensors"
	ok "train, no such folder" complains 1 'No such file' "$train" "$tmp/nowhere/x.safetensors"
	ok "train, a device" complains 1 'not a regular file' "$train" /dev/full
	ok "train, no file" prints 2 'which file' "$train"
	ok "train --steps=0" prints 2 'from 1 to' "$train" --steps=0 "$tmp/x.safetensors"
	ok "generate, with and without a cache" generate_greedy
	ok "generate's seeds" generate_seeds
	ok "generate's output" generate_output
	ok "generate, a foreign character" complains 1 "'~' is not in the text" "$generate" "$trained" -p 'a~'
	ok "generate, another file" complains 1 'not a file that train has saved' "$generate" \
		"$llamas/hf/model-0.safetensors"
	ok "generate, a full disk" generate_full
	ok "generate, a full disk, --json" generate_full --json
	ok "generate, no such file" complains 1 'No such file' "$generate" "$tmp/nothing.safetensors"
	head -c 5000 "$trained" >"$tmp/cut.safetensors"
	ok "generate, a damaged file" complains 1 'cut.safetensors' "$generate" "$tmp/cut.safetensors"
}

# PATTERN: what gdb says of the running mean that nobody has evaluated
train_mean_in_gdb()
{
	in_gdb "$train --steps=10 --width=1 --layers=1 --context=16 $1 $tmp/gdb.safetensors" finish \
		'tensor list mean'
	grep -qE "$2" "$tmp/log"
}

# generate_full [--json]: what cannot be written is an error, said once
generate_full()
{
	local status=0
	timeout 600 "$generate" "$trained" -p 'the ' -n 2000 $1 >/dev/full 2>"$tmp/err" || status=$?
	cat "$tmp/err"
	[ $status -eq 1 ] && [ "$(grep -c 'No space left' "$tmp/err")" -eq 1 ]
}

generate_waits_in_gdb()
{
	in_gdb "$generate $1 $trained -n 5" write_tokens 'tensor catch implicit' continue
	grep -qE "$2" "$tmp/log"
}

# ---- all of them ----

models_in_gdb()
{
	ok "fp4's NaN in gdb" fp4_nan_in_gdb
	ok "fp4's strides in gdb" fp4_stride_in_gdb
	ok "fp4's first wrong read in gdb" fp4_access_in_gdb
	ok "fp4's range in gdb" fp4_range_in_gdb
	ok "dit's shift in gdb" dit_shift_in_gdb same
	ok "dit's shift in gdb, --swapped" dit_shift_in_gdb differ --swapped
	ok "dit's layout in gdb" dit_offset_in_gdb 0
	ok "dit's layout in gdb, --swapped" dit_offset_in_gdb 32 --swapped
	[ ! -x "$llama" ] || ok "llama's positions in gdb" llama_keys_in_gdb
	ok "minilm's padding in gdb" minilm_in_gdb
	ok "train's mean in gdb" train_mean_in_gdb '' '^0 tensors of'
	ok "train's mean in gdb, --buggy" train_mean_in_gdb --buggy '^10 tensors of .* 10 lazy'
	ok "generate's pipeline in gdb" generate_waits_in_gdb '' 'exited normally'
	ok "generate's pipeline in gdb, --buggy" generate_waits_in_gdb --buggy \
		'Catch 1 \(implicit\)'
}

dit_tests
fp4_tests
llama_tests
train_tests
