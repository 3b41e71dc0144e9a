tensor break
tensor break --op nothing
tensor break p around
tensor break p before --nan
tensor break two=words
tensor break p
tensor break y after --once
info breakpoints
tensor status
file stepped
run
continue
tensor print y
tensor status
continue
tensor uncatch
break rounds
run
tensor break matmul after
tensor break '[xy]' --op exp --json
tensor break y --range 0,1
continue
continue
continue
pipe info breakpoints | grep -c 'probe-stap lazybones'
delete
tensor break p after --once
tensor step on
run
tensor step frame
next
tensor print p
pipe info breakpoints | grep -c 'probe-stap lazybones'
kill
