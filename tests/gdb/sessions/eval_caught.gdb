file subject
break checkpoint
run
frame function main
tensor catch eval lazy
tensor catch eval
tensor catch nan
disable 5
tensor eval lazy
pipe info breakpoints | grep keep
frame
