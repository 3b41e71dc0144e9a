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
show scheduler-locking
show unwindonsignal
frame function main
continue
