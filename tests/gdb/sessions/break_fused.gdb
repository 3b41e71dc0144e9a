file stepped
break stepped.c:52
run
tensor break multiply
tensor break exp after
tensor break tanh after
tensor break gated
continue
pipe tensor where | sed 's/, [0-9.]* [mnu]*s$/, TIME/; s/thread [0-9]*/thread N/'
continue
continue
continue
continue
continue
continue
continue
tensor uncatch
run
tensor break '*'
tensor step in
continue
continue
continue
continue
pipe bt | grep -o 'eval(graph.*'
continue
pipe bt | grep -o 'eval(graph.*'
tensor uncatch
kill
