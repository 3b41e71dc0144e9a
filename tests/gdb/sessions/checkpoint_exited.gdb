# the first look when the program has ended by itself
file stepped
break stepped.c:26
run
tensor checkpoint
delete
continue
tensor restart 1
tensor print p - 1
tensor restart
tensor print p - 1
tensor restart 1
