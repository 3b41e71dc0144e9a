# examples/minilm on a small model; a part of tests/examples/run, whose functions it uses.
minilm=$O/examples/minilm bert=$tmp/bert
bert_numpy=("$python" "$here/make_bert.py")
sentences=('the cats sleep on the cat' 'cat' 'sleeping cats' 'dog' 'a cat a cat a cat a cat a cat a cat')

# The embeddings are those that NumPy gets of each sentence alone; so they are in any company.
minilm_embeddings()
{
	exits 0 "$minilm" "$bert" "$@" --save="$tmp/embeddings.npy" &&
		"${bert_numpy[@]}" --embeddings "$tmp/embeddings.npy" "$@"
}

# Beyond a batch; by a file, whose empty lines are none.
minilm_lines()
{
	local i many=()
	for i in {1..40}; do
		many+=("${sentences[i % 3]}")
	done
	printf '%s\n\n' "${many[@]}" >"$tmp/lines"
	exits 0 "$minilm" "$bert" --file="$tmp/lines" --save="$tmp/embeddings.npy" &&
		"${bert_numpy[@]}" --embeddings "$tmp/embeddings.npy" "${many[@]}" &&
		exits 0 "$minilm" "$bert" --file=- --save="$tmp/embeddings.npy" <"$tmp/lines" &&
		"${bert_numpy[@]}" --embeddings "$tmp/embeddings.npy" "${many[@]}"
}

# SENTENCE TOKENS
minilm_tokens()
{
	local said
	said=$("$minilm" "$bert" --tokenize "$1") || return 1
	echo "$said, not $2"
	[ "$said" = "$2" ]
}

# The most alike first, and no more than are asked for.
minilm_pairs()
{
	"$minilm" "$bert" cat 'the cats' sleeping cat --pairs=3 >"$tmp/out" || return 1
	cat "$tmp/out"
	[ "$(wc -l <"$tmp/out")" -eq 3 ] && [ "$(head -1 "$tmp/out")" = ' 1.000  cat | cat' ] &&
		awk '$1 > before + 0 && NR > 1 { exit 1 } { before = $1 }' "$tmp/out"
}

minilm_json()
{
	"$minilm" "$bert" cat 'the "cats"' --json >"$tmp/out" || return 1
	cat "$tmp/out"
	"$python" -c "import json, sys, numpy as np
x = json.load(open(sys.argv[1]))
e, s = np.array(x['embeddings']), np.array(x['similarities'])
assert x['tokens'] == [[2, 5, 3], [2, 4, 1, 5, 6, 1, 3]] and e.shape == (2, 48)
assert np.abs(e @ e.T - s).max() < 1e-6" "$tmp/out"
}

# --buggy: the longest is right, and one alone; the others are not
minilm_buggy()
{
	exits 0 "$minilm" "$bert" --buggy cat --save="$tmp/embeddings.npy" &&
		"${bert_numpy[@]}" --embeddings "$tmp/embeddings.npy" cat &&
		exits 0 "$minilm" "$bert" --buggy cat 'the cats sleep' --save="$tmp/embeddings.npy" &&
		! "${bert_numpy[@]}" --embeddings "$tmp/embeddings.npy" cat 'the cats sleep' &&
		"$python" -c "import sys, numpy as np
x = np.load(sys.argv[1])
np.save(sys.argv[1], x[1:])" "$tmp/embeddings.npy" &&
		"${bert_numpy[@]}" --embeddings "$tmp/embeddings.npy" 'the cats sleep'
}

minilm_rejects()
{
	local bad=$tmp/badbert
	mkdir "$bad"
	ok "minilm, an empty folder" complains 1 'config.json' "$minilm" "$bad" cat
	cp "$bert/config.json" "$bad"
	ok "minilm, no weights" complains 1 'model.safetensors' "$minilm" "$bad" cat
	cp "$bert/model.safetensors" "$bad"
	ok "minilm, no vocabulary" complains 1 'vocab.txt: No such file' "$minilm" "$bad" cat
	grep -v CLS "$bert/vocab.txt" >"$bad/vocab.txt"
	ok "minilm, a vocabulary without [CLS]" complains 1 'no token \[CLS\]' "$minilm" "$bad" cat
	(cat "$bert/vocab.txt"; echo dog) >"$bad/vocab.txt"
	ok "minilm, a large vocabulary" complains 1 '24 tokens, of which the model knows 23' "$minilm" "$bad" cat
	sed -i 's/"hidden_size": 48/"hidden_size": 44/' "$bad/config.json"
	ok "minilm, another width" complains 1 'is not float32 of \(23, 44\)' "$minilm" "$bad" cat
	sed -i 's/"hidden_size": 44/"hidden_size": 45/' "$bad/config.json"
	ok "minilm, no whole heads" complains 1 '4 heads cannot share' "$minilm" "$bad" cat
	sed -i 's/"hidden_size": 45/"hidden_size": -1/' "$bad/config.json"
	ok "minilm, no width" complains 1 'hidden_size of -1' "$minilm" "$bad" cat
	sed -i 's/gelu/relu/' "$bad/config.json"
	ok "minilm, another activation" complains 1 "hidden_act is 'relu', not gelu" "$minilm" "$bad" cat
	ok "minilm, no sentence" complains 1 'no sentence' "$minilm" "$bert"
	ok "minilm, no file" complains 1 'No such file' "$minilm" "$bert" --file="$tmp/nothing"
	ok "minilm, no model" prints 2 'which model' "$minilm"
	ok "minilm --pairs=-1" prints 2 'from 0 to' "$minilm" "$bert" --pairs=-1
}

minilm_tests()
{
	ok "a BERT by NumPy" "${bert_numpy[@]}" "$bert"
	ok "minilm" minilm_embeddings "${sentences[@]}"
	ok "minilm, one sentence" minilm_embeddings "${sentences[0]}"
	ok "minilm, none but [CLS] and [SEP]" minilm_embeddings '' 'cat'
	ok "minilm says what it cuts" prints 0 'sentence 1 has 14 tokens, of which the model reads 12' \
		"$minilm" "$bert" "${sentences[4]}"
	ok "minilm, lines" minilm_lines
	ok "minilm, case and accents" minilm_tokens $'THE Café, cafe\u0301 STRASSE ΣΟΦΉ' "$(
		"${bert_numpy[@]}" --tokens 'the cafe , cafe strasse σοφη')"
	ok "minilm, ideographs, Hangul, spaces" minilm_tokens $'on日on\u3000a\u00ad\u200bb  한!\xff' '2 22 16 22 9 10 19 20 21 14 3'
	ok "minilm, a long word" minilm_tokens "a$(printf 'b%.0s' {1..99})" "2 9 $(printf '10 %.0s' {1..9})3"
	ok "minilm, a word that is too long" minilm_tokens "a$(printf 'b%.0s' {1..100})" '2 1 3'
	ok "minilm's pairs" minilm_pairs
	ok "minilm --json" minilm_json
	ok "minilm --buggy" minilm_buggy
	minilm_rejects
}

# What the first sentence becomes differs by the bug, from the first layer's attention on; the longest does not.
minilm_in_gdb()
{
	local run="$minilm $bert cat the_cats_sleep"
	in_gdb "$run" add_batch "generate-core-file $tmp/right.core" 'tensor print mask'
	grep -qF '[[ True  True  True False False' "$tmp/log" || return 1
	in_gdb "$run --buggy" add_batch "tensor diff means[1] $tmp/right.core:means[1]" \
		"tensor diff means[0] $tmp/right.core:means[0]" "tensor diff layer*.attention $tmp/right.core"
	rm -f "$tmp/right.core"
	grep -qF 'layer0.attention is the first that is not correct' "$tmp/log" &&
		grep -A1 '^means\[1\]' "$tmp/log" | grep -qF 'all 48 elements are equal' &&
		grep -A1 '^means\[0\]' "$tmp/log" | grep -qF 'different      48 of 48'
}

minilm_tests
