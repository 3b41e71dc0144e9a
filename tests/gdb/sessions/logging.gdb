shell rm -f user.log
file subject
break checkpoint
run
set logging file user.log
set logging enabled on
frame function main
tensor print cache[2][0]
tensor print q[1]
tensor print layer.b
tensor info row
echo -- still logging\n
show logging file
show logging redirect
set logging enabled off
shell echo -- the log; cat user.log
set logging redirect on
tensor print layer.b
show logging redirect
