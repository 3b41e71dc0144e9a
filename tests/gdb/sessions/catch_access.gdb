file caught
tensor catch access
run
continue
tensor print reversed
tensor status
continue
echo -- again, one tensor, and a crash that is no guard's\n
tensor uncatch
tensor catch access reversed --json
run crash
continue
tensor uncatch
continue
info breakpoints
tensor uncatch
tensor catch access #3
tensor catch eval #1
run
continue
tensor uncatch
echo -- a guard is closed yet\n
info breakpoints
continue
