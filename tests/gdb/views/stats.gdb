tensor stats q
printf "%d elements\n", $tensor_count
