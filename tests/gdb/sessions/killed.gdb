file subject
break checkpoint
run
# until no thread of it has memory any more
pipe info inferiors | sed -n 's/.*process \([0-9]*\) .*/\1/p' | xargs sh -c 'kill -9 $0; while cat /proc/$0/task/*/maps 2>/dev/null | grep -q .; do :; done'
tensor list
tensor stats q
pipe tensor status | grep 'not found'
kill
