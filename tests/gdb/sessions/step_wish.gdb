file stepped
set sysroot /
set breakpoint pending on
tensor step in
tensor step
break graph-1.lb:4
tensor step on
tensor step
target remote | gdbserver --once - ./stepped 2>/dev/null
tensor step
continue
tensor step --json
kill
pipe info breakpoints | grep -c '_tensor_hit start'
tensor step off
pipe info breakpoints | grep -c '_tensor_hit start'
target remote | gdbserver --once - ./stepped 2>/dev/null
continue
target remote | gdbserver --once - ./stepped 2>/dev/null
tensor step in
tensor step off
delete
continue
tensor step fused
starti
tensor step in
tensor step
tensor catch nan
tensor uncatch
pipe info breakpoints | grep -c '_tensor_hit start'
delete
tensor step off
continue
