# Copies of a view's elements in the order of its storage, in NumPy's arrays and elsewhere: tensor suspect.

# suspect_said: what is said of places, without what is another one's each time
suspect_said()
{
	sed 's/#[0-9][0-9]*/#N/g; s/0x[0-9a-f][0-9a-f]*/ADDRESS/g; s/ in [0-9.]* [KMG]*iB of memory/ in memory/' | grep -v 'to which no variable of Python'
}

# suspect_of COMMAND…: all of it in one line each
suspect_of()
{
	COLUMNS=1000 "$@" 2>&1 | suspect_said
}

# mlx_suspect VERSION NUMPY: with the NumPy in that folder
mlx_suspect()
{
	local what="mlx $1, NumPy of $(basename "$(dirname "$2")")" python=$real/mlx-$1/bin/python how pid line process found
	fetched "mlx-$1" || return
	PYTHONPATH=$2 "$python" -c 'import numpy' 2>/dev/null || { skip "$what: it has no NumPy for this Python"; return; }
	for how in '' wrong; do
		coproc PYTHONPATH=$2 "$python" tests/real/mlx/suspect.py $how 2>/dev/null
		pid=$COPROC_PID process="$O/bin/lazybones pid $pid"
		while read -r -t 120 line <&"${COPROC[0]}" && [ "$line" != resting ]; do :; done
		found=$(suspect_of $process suspect)
		if [ ! "$how" ]; then
			same "$what: where all is right, nothing is suspected" '0 suspicions' "${found%%:*}"
		else
			same "$what: a picture that came out tiled" "$(printf '%s' '  - show.frames[2] in look (numpy.ndarray of shape (20, 30, 3), at ADDRESS)' \
				' holds the elements of the view img (#N, float32 (20, 30, 3), ready) in storage order: these bytes are of shape (3, 20, 30),' \
				" the view's axes in the order (2, 0, 1); transposed by (1, 2, 0) they would be right")"$'\n1 suspicion' \
				"$(sed 's/: looked.*//' <<<"$found" | head -2)"
			same "$what: asked for all, also what has no shape, or is explained" \
				'array.array numbers|bytearray file|bytes pixels|numpy.ndarray loaded|numpy.ndarray show.frames[2]' \
				"$(suspect_of $process suspect --all | sed -n 's/^  - \([^ ]*\).* (\([a-z.]*\)[ ,].*\(holds the elements of the view \(img\|turned\)\).*/\2 \1/p' |
					grep -v 'right$\|square' | sort -u | paste -sd'|')"
			if gcore -o "$scratch/suspect" $pid >/dev/null 2>&1; then
				same "$what: likewise in a core" "$(head -1 <<<"$found")" \
					"$(suspect_of "$O/bin/lazybones" core "$scratch/suspect.$pid" suspect | head -1)"
				rm -f "$scratch/suspect.$pid"
			fi
		fi
		eval "exec ${COPROC[1]}>&-"
		wait $pid
	done
}

# The NumPy of Debian's Python, and that beside PyTorch.
mlx_suspects()
{
	local numpy
	for numpy in /usr/lib/python3/dist-packages "$real"/torch-2.13/lib/python3*/site-packages; do
		mlx_suspect $newest "$numpy"
	done
	mlx_suspect 0.21.1 /usr/lib/python3/dist-packages
}
