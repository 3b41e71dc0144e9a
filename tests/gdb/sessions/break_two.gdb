# breaks at one place, and a user's breakpoint there: each has its word, and none takes another's stop;
# a glob that does not match lets a `next` go on to its line, and a `finish` to its end
file stepped
break rounds
run
tensor break p
tensor break matmul --once
break -probe-stap lazybones:op_start
commands
silent
echo the user's own\n
end
tensor break '[pq]'
tensor break 'z*'
disable 5
continue
tensor uncatch
tensor break 'z*' after
tensor break '[pqz]' after
tensor break matmul after
tensor break 'zz*' after
continue
tensor uncatch
tensor break 'z*'
tensor break y
enable 5
continue
delete 5
continue
tensor uncatch
tensor break 'z*'
continue
run
tensor break 'z*'
tensor break 'z*' after
tensor break '*q*' --range 0,1
next
next
next
next
next
next
next
finish
kill
run
tensor catch range '[xy]' 0 1
tensor break '?' after --once
continue
continue
kill
