file subject
break checkpoint
run
tensor list row
pipe info sources | grep -o '^/proc/.*'
pipe interpreter-exec mi "-file-list-exec-source-files" | grep -o 'file="/proc[^}]*'
list /proc/self/fd/908:1
kill
file stepped
break rounds
run
tensor step in
pipe info sources | grep -o 'graph-1.lb'
pipe interpreter-exec mi "-file-list-exec-source-files" | grep -o 'file="graph[^}]*'
