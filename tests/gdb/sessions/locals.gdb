file subject
tensor locals
break checkpoint
run
tensor locals
tensor frame
up
tensor locals
set print pretty on
set print address off
tensor frame 0
frame
tensor frame 99
tensor frame x
tensor frame --thread 1
kill
core-file subject.gcore
tensor frame 1
