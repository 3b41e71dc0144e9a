file subject
tensor catch misuse
tensor catch nan late
tensor catch implicit
tensor catch eval #18
run
frame
continue
continue
continue
tensor status
pipe tensor status --json | grep -o '"catches".*'
continue
echo -- again\n
run
frame
tensor uncatch 1
tensor uncatch all
tensor uncatch
continue
info breakpoints
run
