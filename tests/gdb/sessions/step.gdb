tensor step
tensor step on
file stepped
break rounds
run
tensor step
tensor step in
info locals
list 1,7
next
next
next
tensor print p
tensor locals
next
tensor print p
tensor print y
until
advance graph-1.lb:7
pipe bt | grep -o 'eval(graph.*\|rounds (.*\|main (.*'
frame function rounds
tensor step frame
info source
tensor locals
tensor listing
tensor listing 1 --ranges
break graph-1.lb:4
tbreak graph-1.lb:7
info breakpoints
continue
continue
continue
tensor print x
delete
set print frame-arguments none
tbreak run_call
continue
frame
finish
tensor listing graph-1.lb --json
tensor step fused
tensor step out
tensor step in
list 1,7
next
next
next
break together
continue
tensor listing
tensor listing 2
tensor diff-graph 2 graph-4.lb
tensor diff-graph 3 5
tensor diff-graph 3 5 --json
tensor diff-graph 1 3
tensor diff-graph 3 99
delete
tensor step off
tensor step
tensor step sideways
tensor listing 99
tensor listing x
continue
