file subject
break checkpoint
run
pipe info inferiors | sed -n 's/.*process \([0-9]*\) .*/\1/p' | xargs kill -9
shell sleep 0.5
tensor list
tensor stats q
pipe tensor status | grep 'not found'
kill
