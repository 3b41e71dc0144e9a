# a signal when the program has worked on for a while: gdb passes on a Ctrl-C of its own
define when_busy
shell (p=$(pgrep -P $PPID subject); t() { awk '{ print $14 + $15 }' /proc/$p/stat 2>/dev/null || echo 999999; }; e=$(($(t) + 30)); until [ $(t) -ge $e ]; do :; done; kill -$arg0 $arg1) >/dev/null 2>&1 &
end
file subject
break checkpoint
run huge
frame function main
tensor catch eval lazy
when_busy INT $PPID
tensor eval slow
print $tensor_failed
tensor where
frame
tensor list slow
show scheduler-locking
pipe info breakpoints | grep keep
tensor eval row
tensor eval lazy
print $tensor_failed
echo -- another signal\n
when_busy USR2 $p
tensor eval slow --json
tensor where
echo -- a breakpoint inside\n
tbreak lb_debug_eval
tensor eval unnamed
print $tensor_failed
continue
frame function main
tensor eval unnamed
print $tensor_failed
