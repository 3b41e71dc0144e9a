file stepped
set sysroot /
tensor step on
target remote | env LAZYBONES_STEP=1 gdbserver --once - ./stepped 2>/dev/null
tensor where
break rounds
continue
tensor where
tensor step in
tbreak lb_kernel_matmul
continue
pipe tensor where | sed 's/, [a-z ]*[0-9.]* [num]*s$//; s/thread [0-9]*/thread N/'
pipe tensor where --json | sed 's/"thread":[0-9]*/"thread":N/; s/"elapsed_ns":[0-9nul]*/"elapsed_ns":N/'
generate-core-file where_remote.core
tensor step off
kill
core-file where_remote.core
pipe tensor where | sed 's/thread [0-9]*/thread N/; s/, [a-z ]*[0-9.]* [num]*s$//'
core-file
target remote | gdbserver --once - ./stepped threads 2>/dev/null
delete
break together
continue
pipe tensor where | sed 's/thread [0-9]*/thread N/; s/evaluation [0-9]*/evaluation N/; s/#[0-9]*/#N/; s/job [0-9]*/job N/; s/, [a-z ]*[0-9.]* [num]*s$//' | grep -v 'stream [0-9]' | sort
kill
