# `step in` within an evaluation: to its next operation; not if it did not begin in step mode
file stepped
tensor break p
run
tensor step in
tensor step out
tensor step in
continue
tensor step in
# in a kernel; whatever the radix
tensor uncatch
tbreak lb_kernel_fused
set input-radix 16
continue
tensor step in
set input-radix 0xa
# the last operation: to the next evaluation
tensor break y
continue
tensor step in
tensor uncatch
kill
# a graph that is about to run, in step mode and not
tensor step off
tensor catch graph 3
run
continue
continue
tensor step in
tensor uncatch
tbreak -probe-stap lazybones:graph_start
commands
silent
end
continue
tensor step in
delete
kill
# a job of a stream
tensor step off
file queue
tensor break '*' --once
run
tensor step in
kill
