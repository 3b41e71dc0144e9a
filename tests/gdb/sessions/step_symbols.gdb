file stepped
break rounds
run
tensor symbols --auto on
tensor step in
tbreak graph-1.lb:3
continue
print tensor::x[1]
tensor step in
advance graph-1.lb:7
tensor step in
info breakpoints
