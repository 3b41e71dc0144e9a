file stepped
break together
tensor step on
run
delete
tensor step in
pipe info breakpoints | grep -c graph_start
start
pipe info breakpoints | grep -c graph_start
next
kill
