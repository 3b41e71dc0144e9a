file stepped
set directories /nonexistent
break rounds
run
tensor step in
next
set directories /nonexistent
list 1,3
directory /nonexistent
next
set directories
next
set confirm off
directory
next
interpreter-exec mi "-environment-directory -r"
tensor step on
next
delete
break graph-1.lb:3
continue
shell rm -rf "$(dirname "$(readlink /proc/$PPID/fd/905)")"
next
list 1,7
shell rm "$(readlink /proc/$PPID/fd/905)/graph-1.lb"
next
delete
tensor step out
shell rm -rf "$(dirname "$(readlink /proc/$PPID/fd/905)")"
tensor step in
list 1,2
next
delete
tensor step out
shell mkdir "$(readlink /proc/$PPID/fd/905)/unfinished"
tensor step in
pipe tensor step | grep -o '^They cannot be shown'
list graph-1.lb:1,2
shell rmdir "$(readlink /proc/$PPID/fd/905)/unfinished"
tensor step out
tensor step in
list 1,2
pipe tensor step | grep -c '^They cannot be shown'
kill
