# what was, looked at while the program has gone on
tensor checkpoint
file stepped
break rounds
run
next
next
next
next
next
tensor print p
tensor checkpoint
next
tensor print y
tensor checkpoint
tensor restart 1
tensor print p
tensor print p * 2
tensor list
tensor checkpoint
tensor restart
tensor print y
tensor restart 2
tensor print y
tensor checkpoint --delete 2
tensor restart
tensor checkpoint --delete 2
tensor restart
tensor restart 2
tensor checkpoint --list
# the selected frame stays, too
tensor checkpoint
tensor restart 3
tensor restart
up
tensor checkpoint --delete 3
frame
kill
# it stays
tensor restart 1
tensor print p - 1
tensor restart
tensor print p - 1
