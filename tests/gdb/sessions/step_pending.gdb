file stepped
set breakpoint pending on
break graph-1.lb:4 if 1 + 1 == 2
commands
silent
frame
tensor print x
end
tbreak graph-1.lb:6
break graph-3.lb:4
tbreak eval_graph_5
tensor step on
run
info breakpoints
continue
continue
continue
continue
frame function eval_graph_3
up
frame function 'eval(graph 3)'
info symbol $pc
delete 1
continue
run
continue
delete
break graph-1.lb:1
run
condition 5 1 + 1 == 2
break graph-1.lb:4
continue
tbreak rounds
run
info breakpoints
delete 5
tbreak graph-1.lb:1
continue
info breakpoints
enable
continue
