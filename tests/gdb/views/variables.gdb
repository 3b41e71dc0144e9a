tensor print half[0]
printf "id %d, rank %d, size %d, nbytes %d\n", $tensor_id, $tensor_rank, $tensor_size, $tensor_nbytes
tensor print q[1]
printf "%d of %d: ", $tensor_count, $tensor_size
output *(float *)$tensor_data@6
printf "\n"
tensor print lazy
printf "lazy: failed %d, data %d, nbytes %d\n", $tensor_failed, $tensor_data != 0, $tensor_nbytes
tensor stats bad
printf "%d nan, %d inf, %d zero, %g to %g, sum %g\n", $tensor_nan_count, $tensor_inf_count, $tensor_zero_count, $tensor_min, $tensor_max, $tensor_sum
tensor print nothing
printf "failed: %d, id still %d\n", $tensor_failed, $tensor_id
tensor list --state lazy
printf "%d lazy\n", $tensor_count
tensor print q
tensor at $tensor_data
printf "of #%d, rank %d\n", $tensor_id, $tensor_rank
tensor diff q q[::-1] --explain off
printf "%d differ, by %g at most\n", $tensor_diff_count, $tensor_diff_max
tensor image bad
printf "%d not finite\n", $tensor_nan_count
