file subject
tensor catch eval #18
delete
tensor status
tensor catch eval #18
run
delete
tensor uncatch 2
tensor catch nan
tensor catch misuse
tensor uncatch
continue
