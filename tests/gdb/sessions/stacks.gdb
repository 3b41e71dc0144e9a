tensor stacks
tensor stacks 99
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
