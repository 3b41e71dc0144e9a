file caught
tensor catch memory much
tensor catch memory
tensor catch graph -3
tensor catch range scores 2
tensor catch range scores 2 1
tensor catch range scores low 1
tensor catch access a b
tensor catch access #-1
tensor catch promote
tensor catch recompile twice
tensor catch memory 2M
tensor catch graph 1000
tensor catch memory 3M
run
continue
continue
continue
continue
continue
tensor status
continue
echo -- again\n
delete 1
tensor status
tensor uncatch 4
tensor catch range scores -1 70.5
tensor catch range * -1e6 1199.5
tensor catch range turned -1 1 --json
tensor catch graph 10000000
run
tensor stats #1224
continue
continue
continue
tensor uncatch 5 --json
continue
tensor uncatch
info breakpoints
tensor catch foo
tensor catch eval *
tensor catch recompile *
tensor catch misuse two*
tensor uncatch
tensor break total --range a,b
tensor break total --range 2,1
tensor break total --range 2
