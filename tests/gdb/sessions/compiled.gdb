file compiled
break main
run
break -probe-stap lazybones:compile
commands
silent
printf "%s: %s\n", (char *) $_probe_arg1, (char *) $_probe_arg2
continue
end
break checkpoint
continue
frame function main
tensor compiled
tensor events compile
tensor info y
tensor graph y
tensor print y
tensor peek y
tensor peek y[1, 1:] --json
tensor compiled 'act*' --json
tensor print y --json
break -probe-stap lazybones:error
commands
silent
printf "%s\n", (char *) $_probe_arg1
tensor info 'hasty input 0'
tensor peek 'hasty input 0'
continue
end
continue
