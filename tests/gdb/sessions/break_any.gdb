# before or after alone is of any tensor; in quotes it is a name
file stepped
tensor break after
tensor break before --op exp
tensor break --op matmul after
tensor break 'after'
tensor break "before" after
tensor break after before
tensor break before --nan
tensor status
run
tensor uncatch 1
continue
kill
