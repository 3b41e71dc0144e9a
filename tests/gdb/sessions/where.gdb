file stepped
break together
run threads
pipe tensor where | sed 's/thread [0-9]*/thread N/; s/evaluation [0-9]*/evaluation N/; s/#[0-9]*/#N/; s/job [0-9]*/job N/; s/, [0-9.]* [num]*s$/, TIME/' | grep -v 'stream [0-9]' | sort
kill
delete
tensor step on
break rounds
run
tensor where
tensor step in
next
next
next
pipe tensor where | sed 's/, [0-9.]* [num]*s$/, TIME/; s/thread [0-9]*/thread N/'
tbreak lb_kernel_matmul
continue
pipe tensor where | sed 's/, [0-9.]* [num]*s$/, TIME/; s/thread [0-9]*/thread N/'
pipe tensor where --json | sed 's/"thread":[0-9]*/"thread":N/; s/"elapsed_ns":[0-9]*/"elapsed_ns":N/'
generate-core-file where.core
kill
core-file where.core
pipe tensor where | sed 's/thread [0-9]*/thread N/; s/at least [0-9.]* [mnu]*s/at least TIME/'
tensor help where
