# back to the program: from a graph, from a kernel, from an evaluation inside another; not from a job
file stepped
break rounds
run
tensor step out
tensor step in
next
next
tensor step out
tensor step off
tensor break p
continue
tensor step out
tensor print p
tensor uncatch
delete
tensor step sideways
set args threads
tbreak together
run
thread 1
tensor step out
kill
set args
file queue
tensor break '*' --once
run
tensor step out
kill
tensor step out
