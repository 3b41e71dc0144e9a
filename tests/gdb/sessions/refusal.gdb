file subject
break checkpoint
run
thread 2
tensor eval lazy
thread 1
tensor catch eval #18
continue
tensor eval #18
tensor eval lazy
tensor eval #19
tensor uncatch
continue
