# gdb's error ends a script, but not in its hook-stop.
file subject
set sysroot /
target remote | exec gdbserver --once - ./subject 2>/dev/null
break checkpoint
define hook-stop
echo -- its server dies\n
shell pkill -9 -P $PPID -x gdbserver
tensor stats q
end
continue
define hook-stop
end
tensor print q
run
frame function main
tensor print q
