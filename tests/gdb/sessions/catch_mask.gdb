# -Inf that was put into a mask is no news, nor what has it from there; of a tensor that is named it is
file masked
tensor catch nan
run
tensor print $tensor_id
print keys
tensor origin #$tensor_id
tensor uncatch
tensor catch nan scores
run
print keys
tensor print scores
kill
