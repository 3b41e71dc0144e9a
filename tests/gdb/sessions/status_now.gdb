# What the program's own numbers say too late: the peak where a memory catch stops, a child's process number.
file named
tensor catch memory 1K
run
tensor status
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
set logging redirect on
set logging file status.json
set logging overwrite on
set logging enabled on
tensor status --json
set logging enabled off
shell grep -o '"pid":[0-9]*' status.json | grep -o '[0-9]*' > status.pid
pipe info inferiors | sed -n 's%^[*] .*process \([0-9]*\) .*%\1%p' | cmp - status.pid && echo the same
kill inferiors 1 2
