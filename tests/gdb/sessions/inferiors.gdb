# a second process: gdb forgets its frames when it is asked for the breakpoints of two
file stepped
break rounds
run
add-inferior -exec ./stepped
inferior 2
tensor break 'y*'
tensor catch nan
run
continue
pipe tensor status | grep 'catch\|watches'
tensor print p
tensor uncatch all
continue
inferior 1
pipe tensor status | grep 'tensors\|watches'
tensor break p
continue
kill
