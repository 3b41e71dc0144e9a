tensor break p
file stepped
set sysroot /
target remote | gdbserver --once - ./stepped 2>/dev/null
tensor break y after --once
tensor break '[xy]' --op exp
tensor break y --range 0,1
tensor break tanh
continue
pipe tensor where | sed 's/, [a-z ]*[0-9.]* [num]*s$//; s/thread [0-9]*/thread N/'
continue
continue
continue
tensor print y
tensor uncatch 1
tensor uncatch 3
tensor uncatch 4
continue
tensor print gated
tensor uncatch
continue
