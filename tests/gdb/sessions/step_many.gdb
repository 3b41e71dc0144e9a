file many
set breakpoint pending on
tensor step on
break graph-300.lb:2
break done
break rounds
run
delete 3
tensor step in
break graph-1.lb:3
break graph-1.lb:4
continue
continue
delete 6
continue
continue
continue
pipe maint print objfiles | grep -c '^Object file.*\(JIT compiled code\|in-memory\)'
shell ls /proc/$PPID/fd/905/ | wc -l
break graph-601.lb:2
tbreak graph-602.lb:2
continue
continue
continue
info breakpoints
pipe maint print objfiles | grep -c '^Object file.*\(JIT compiled code\|in-memory\)'
shell ls /proc/$PPID/fd/905/ | wc -l
continue
continue
