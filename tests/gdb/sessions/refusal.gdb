file subject
break checkpoint
run
thread 2
tensor eval lazy
thread 1
break -probe-stap lazybones:op_start
condition 2 $_probe_arg0 == 18 || $_probe_arg0 == 19
commands 2
silent
end
continue
select-frame function main
tensor eval #18
tensor eval lazy
tensor eval #19
delete
continue
