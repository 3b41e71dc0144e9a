# an evaluation that has begun, but is not yet in its graph's code
file stepped
break rounds
run
tensor step on
break __jit_debug_register_code
continue
pipe tensor status | grep 'runs evaluation'
tensor step in
