# Stops at the nodes of programs that compute without a scheduler (stops.sh has the rest).

# Without a scheduler: at nodes, in front of them and behind, also behind the last one of a graph. The line behind `run` gives
# gdb 18 time to run the commands of the stop.
forward_stops()
{
	look "tensor break 'y.q*'" 'tensor break --op GET_ROWS' 'tensor catch nan' "tensor break 'y.q8_0' after" \
		"run graph $real/$1" echo continue "pipe tensor print y.q8_0[0,:3] | sed 's/^/- /'" "pipe tensor where | sed -n '2s/ (#.*//; 2s/^ */- /p'" \
		"tensor break 'rows' after" 'tensor uncatch 1' 'tensor uncatch 3' continue continue "pipe tensor print rows[0,:3] | sed 's/, as it lies.*//; s/^/- /'" \
		'tensor uncatch' continue
	same "$1, in gdb: it stops without a scheduler" "$(cat <<-END
		Catch 1 (before): an operation is about to run.
		  tensor y.q8_0: float32 (N, 16), made by MUL_MAT
		Catch 1 (before): an operation is about to run.
		  tensor y.q4_0: float32 (N, 16), made by MUL_MAT
		Catch 4 (after): an operation has run.
		  tensor y.q8_0: float32 (N, 16), made by MUL_MAT
		- y.q8_0[0,:3]: float32 (3,)
		- [-598. -755.  560.]
		- computes MUL_MAT of y.q4_0
		Catch 1 is off
		Catch 3 is off
		Catch 2 (before): an operation is about to run.
		  tensor rows: float32 (N, 64), made by GET_ROWS
		Catch 5 (after): an operation has run.
		  tensor rows: float32 (N, 64), made by GET_ROWS
		- rows[0,:3]: float32 (3,)
		- [-24. -17. 127.]
		Catch 2 is off
		Catch 4 is off
		Catch 5 is off
		computed
	END
	)" "$(run_gdb "$program" -x "$scratch/look.gdb" | stops_said; grep -x computed "$scratch/said")"
	stops_of_program 'without a scheduler it stops where NaN comes up, and what is too large' \
		'tensor catch nan' "run nan $real/$1" continue 'tensor uncatch' "tensor catch range 'ro*' -1 0.5" continue \
		'tensor uncatch' continue <<-END
		Catch 1 (nan): a result holds NaN or Inf.
		  tensor logs: float32 (N, 8), made by LOG
		Catch 1 (nan): a result holds NaN or Inf.
		  tensor ratios: float32 (N, 8), made by DIV
		Catch 1 is off
		Catch 2 (range): a result has values outside the range.
		  tensor roots: float32 (N, 8), made by SQRT
		Catch 2 is off
	END
	stops_of_program 'without a scheduler a catch that is set at a stop holds there' \
		'tensor break ratios' "run nan $real/$1" 'tensor break ratios after' continue 'tensor break roots after' 'tensor uncatch 1' continue \
		'tensor uncatch' continue 'printf "- ended %d\n", $_exitcode' <<-END
		Catch 1 (before): an operation is about to run.
		  tensor ratios: float32 (N, 8), made by DIV
		Catch 2 (after): an operation has run.
		  tensor ratios: float32 (N, 8), made by DIV
		Catch 1 is off
		Catch 3 (after): an operation has run.
		  tensor roots: float32 (N, 8), made by SQRT
		Catch 2 is off
		Catch 3 is off
		- ended 0
	END
	stops_of_program 'likewise where no other is left' \
		'tensor break ratios' "run nan $real/$1" 'tensor uncatch' 'tensor break ratios after' continue 'tensor uncatch' 'tensor break logs' stepi continue <<-END
		Catch 1 (before): an operation is about to run.
		  tensor ratios: float32 (N, 8), made by DIV
		Catch 1 is off
		Catch 2 (after): an operation has run.
		  tensor ratios: float32 (N, 8), made by DIV
		Catch 2 is off
	END
	look 'tensor break logs' "run nan $real/$1 one" continue 'set var times = 3' 'tensor uncatch' 'tensor break logs' continue continue continue \
		continue 'printf "- ended %d\n", $_exitcode'
	same "$1, in gdb: without a scheduler a graph that is built once is stopped in each time" \
		'1 1 2 2 2 ended' "$(run_gdb "$program" -x "$scratch/look.gdb" | sed -n 's/^Catch \([0-9]\) (.*/\1/p; s/^- \(ended\) 0/\1/p' | xargs)"
	stops_of_program 'without a scheduler it stops each time a graph of one node is computed' \
		"tensor break 'logs'" "run nan $real/$1 one" continue continue continue 'printf "- ended %d\n", $_exitcode' <<-'END'
		Catch 1 (before): an operation is about to run.
		  tensor logs: float32 (N, 8), made by LOG
		Catch 1 (before): an operation is about to run.
		  tensor logs: float32 (N, 8), made by LOG
		Catch 1 (before): an operation is about to run.
		  tensor logs: float32 (N, 8), made by LOG
		- ended 0
	END
	look "tensor break 'y.q*'" "run graph $real/ggml-2024-10"
	[ ! -d "$real/ggml-2024-10" ] ||
		same 'ggml-2024-10, in gdb: without a scheduler it cannot stop' "$(cat <<-'END'
			Catch 1 does not stop at the nodes of ggml: the program computes without ggml's scheduler, and its ggml does not export ggml_cpu_extra_compute_forward.
			computed
		END
		)" "$(run_gdb "$program" -x "$scratch/look.gdb" | stops_said; grep -x computed "$scratch/said")"
}
