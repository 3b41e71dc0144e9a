file subject
break checkpoint
run
frame function main
tensor catch nan late
tensor catch misuse q
tensor catch misuse cache[3]
tensor catch misuse qt
tensor catch implicit #1
tensor catch eval lazy
continue
continue
continue
tensor print lazy --precision 3
tensor uncatch
continue
