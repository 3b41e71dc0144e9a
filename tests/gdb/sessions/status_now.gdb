# What the program's own numbers say too late: the peak where a memory catch stops, a child's process number.
file named
tensor catch memory 1K
run
pipe tensor status --json | grep -o '"[a-z]*_bytes":[0-9]*' | tr -d '"' | awk -F: '{ v[$1] = $2 } END { print (v["active_bytes"] > 1024), (v["peak_bytes"] >= v["active_bytes"]) }'
kill
tensor uncatch
file subject
set args fork
set follow-fork-mode child
catch fork
commands
silent
end
run
set detach-on-fork off
pipe next | grep -c 'fork to child'
pipe tensor status --json | grep -o '"pid":[0-9]*' | grep -o '[0-9]*' > status.pid
pipe info inferiors | sed -n 's%^[*] .*process \([0-9]*\) .*%\1%p' | cmp - status.pid && echo the same
kill inferiors 1 2
