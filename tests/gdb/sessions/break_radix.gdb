# gdb reads conditions in the user's radix
file stepped
set input-radix 16
tensor break y
tensor break 'y*' after
tensor break p --range -1,1
run
continue
continue
tensor break p after --op matmul
continue
kill
