file stepped
tensor catch range p 0 1
run
tensor print p
tensor print y
tensor uncatch
tensor break y before
run
tensor print #8
tensor print y
tensor uncatch
kill
file subject
tensor catch nan late
run
tensor print late
tensor origin late
kill
