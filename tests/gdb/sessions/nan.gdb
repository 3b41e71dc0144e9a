# What a script finds, and what is told, where there are no numbers.
file named
break checkpoint
run
tensor stats nan
printf "%d %d %d %d %g\n", $tensor_mean != $tensor_mean, $tensor_std != $tensor_std, $tensor_min != $tensor_min, $tensor_max != $tensor_max, $tensor_sum
tensor stats half
printf "%g %g %g %g %g\n", $tensor_mean, $tensor_std, $tensor_min, $tensor_max, $tensor_sum
tensor info nan
tensor image @$tensor_data:f32:2,2 --as ascii
printf "%d %d\n", $tensor_min != $tensor_min, $tensor_max != $tensor_max
tensor diff nan 'nan too'
tensor diff half half
tensor diff nan numbers
printf "%d\n", $tensor_diff_max != $tensor_diff_max
tensor diff half numbers
tensor diff half nan
