file stepped
tensor step on
run segv
pipe bt | grep -o 'eval(graph.*\|crash (.*\|main (.*'
tensor step frame
list 1,4
info locals
frame function crash
generate-core-file step.core
kill
core-file step.core
pipe bt | grep -o 'eval(graph.*\|crash (.*\|main (.*'
tensor step frame
list 1,4
tensor listing 2 --ranges
tensor info broken
core-file
run fpe
pipe bt | grep -o 'die (.*\|eval(graph.*\|crash (.*\|main (.*'
tensor step frame
run abort
pipe bt | grep -o 'die (.*\|eval(graph.*\|crash (.*\|main (.*'
tensor step frame
tensor listing 2
kill
