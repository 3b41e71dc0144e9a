# two catches of one stop: each has its word, and the frame of the program's call is selected, as by misuse
file caught
tensor catch misuse
tensor catch misuse reversed
tensor catch range turned -1 1
tensor catch range turned -2 2
run
continue
continue
frame
kill
# NaN is in no range
tensor uncatch all
file subject
tensor catch range late -1 1
run
kill
