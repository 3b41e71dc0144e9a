file stepped
set sysroot /
target remote | gdbserver --once - ./stepped 2>/dev/null
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
delete
tensor step off
continue
