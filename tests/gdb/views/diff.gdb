tensor diff q q
tensor diff half brain
tensor diff half brain --rtol 1e-2 --explain=off
tensor diff q blk.0.qt
tensor diff q[:, ::-1] q
tensor diff q[1:] q[:2]
tensor diff q bad
tensor diff lazy layer.w
tensor diff lazy lazy
tensor diff half brain --json
tensor diff q nobody
tensor diff q /nonexistent/q.npz:q
tensor diff q q --rtol x
tensor diff q half --group 4
printf "%d %g\n", $tensor_diff_count, $tensor_diff_max
