# T is an expression where it is one, else a name or a glob
file stepped
break rounds
run
next
next
next
next
next
tensor break *&m
tensor break p
tensor break p[0]
tensor break *p
tensor break #99999999999999999999
tensor break #4000000000
tensor break nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn
tensor break größe
tensor break -x
continue
continue
kill
delete
file caught
break caught.c:36
run
tensor break half
tensor break single after
tensor break #1 after
kill
