file stepped
set sysroot /
target remote | gdbserver --once - ./stepped 2>/dev/null
set breakpoint pending on
break graph-3.lb:3
break rounds
continue
tensor step in
next
next
next
pipe bt | grep -o 'eval(graph.*\|rounds (.*\|main (.*'
tensor print p
break graph-1.lb:5
continue
continue
tensor print p
delete 2 5
continue
frame function eval_graph_3
delete
tensor step off
continue
