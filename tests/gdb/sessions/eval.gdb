file subject
break checkpoint
run
frame function main
tensor eval q
tensor eval lazy
tensor print lazy --precision 3
tensor eval #15
tensor eval layer.w --json
tensor catch eval q --json
tensor uncatch 1 --json
tensor eval nothing
tensor catch eval q[0]
tensor catch eval q[0, :2]
tensor break lazy[1]
tensor catch eval later[0]
tensor uncatch
tensor step on
tensor eval #18
tensor step off
show scheduler-locking
show unwindonsignal
frame function main
continue
