tensor stacks
tensor stacks 99
tensor stacks 3 --json
tensor help stacks --json
tensor stacks x
tensor stacks 4
file subject
break checkpoint
run
tensor info lazy
tensor stacks
tensor stacks 0
tensor status
kill
set sysroot /
set breakpoint pending on
delete
tensor stacks 2
pipe info breakpoints | grep -c '_tensor_hit start'
target remote | gdbserver --once - ./subject 2>/dev/null
break checkpoint
continue
tensor stacks
tensor info lazy
kill
tensor stacks 0
pipe info breakpoints | grep -c '_tensor_hit start'
target remote | gdbserver --once - ./subject 2>/dev/null
tensor stacks 3
continue
tensor stacks
kill
