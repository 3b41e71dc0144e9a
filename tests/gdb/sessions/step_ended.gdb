file stepped
break together
tensor step on
run
delete
tensor step in
info breakpoints
start
info breakpoints
next
kill
