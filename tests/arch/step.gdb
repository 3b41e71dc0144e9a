break rounds
continue
set breakpoint pending on
break graph-1.lb:4
tensor step on
continue
tensor locals
next
tensor print p
tbreak run_call
continue
pipe bt | grep -o 'run_call\|eval(graph.*\|lb_step_through\|rounds (.*\|main (.*'
finish
tbreak graph-1.lb:7
continue
pipe bt | grep -o 'run_call\|eval(graph.*\|lb_step_through\|rounds (.*\|main (.*'
next
pipe bt | grep -o 'run_call\|eval(graph.*\|lb_step_through\|rounds (.*\|main (.*'
delete
tensor step off
continue
