file loads
set breakpoint pending on
tensor step on
break graph-1.lb:1
run
break graph-2.lb:1
continue
tensor listing 2
continue
