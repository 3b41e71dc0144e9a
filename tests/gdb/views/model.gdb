tensor model
printf "%d bytes\n", $tensor_bytes
tensor model 'b*' --depth 1
tensor model 'nobody*'
