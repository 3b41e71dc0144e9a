file ../../examples/fp4
pipe break print_step | grep -c ^Breakpoint
commands
silent
printf "%d tokens\n", tokens
end
run --bug=nan
echo ---- weights\n
tensor quant wq.codes
tensor quant wq.codes[0, :6] --precision 4
tensor quant wq.codes --scales wq.scales --mode mxfp8
tensor quant wq.scales
echo ---- a cache with a NaN among its scales\n
ignore 1 1
continue
tensor quant cache.v.codes
tensor quant cache.v.codes --json
pipe tensor origin fp4.output | sed 's/fp4.c:[0-9]*/fp4.c:N/'
kill
