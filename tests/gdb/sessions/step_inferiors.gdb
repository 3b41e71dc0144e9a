file stepped
tensor step on
tbreak together
run
add-inferior -exec stepped
inferior 2
set environment LAZYBONES_STEP 1
tbreak rounds
run
tbreak graph-1.lb:1
continue
inferior 1
list graph-5.lb:1,2
inferior 2
next
kill inferiors 1 2
