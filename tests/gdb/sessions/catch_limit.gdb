# The tensor that passes the limit, whatever the limit is; each time that it is passed; and an evaluation alone
file lazies
tensor catch graph 10
run
print i
continue
print i
tensor uncatch
tensor catch graph 40
continue
tensor uncatch
tensor catch graph 100
continue
print i
continue
print i
up
print turn
tensor uncatch
break checkpoint
continue
tensor catch graph 31
continue
run
tensor uncatch
continue
run
tensor uncatch
tensor catch graph 30
continue
continue
# a runtime that looks at some tensors alone says so
run
tensor uncatch
set var lb_root_object.minor = 7
tensor catch graph 30
_tensor_hit start
tensor uncatch
set var lb_root_object.minor = 8
tensor catch graph 30
kill
