# A catch, or the program's end, comes first: `step in` ends there, and leaves nothing behind.
file stepped
tensor catch eval y
break rounds
run
tensor step in
advance graph-1.lb:7
tensor step in
pipe info breakpoints | grep -c graph_start
tensor uncatch
tensor break p after
tensor step in
advance graph-1.lb:4
tensor step in
tensor uncatch
tensor catch nan
tensor step in
# by the user's own commands, which ask
break rounds
commands
tensor print x
tensor step
end
run
tensor step in
tensor step out
delete
tensor step off
continue
run
tensor step in
pipe info breakpoints | grep -c lazybones
