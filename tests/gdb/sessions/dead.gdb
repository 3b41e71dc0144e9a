file subject
core-file subject.gcore
tensor eval lazy
tensor catch misuse q
tensor uncatch
tensor print row
set $p = ((lb_tensor *)cache[2])
thread 2
tensor print row[0]
thread
tensor symbols
tensor list --state ready --dtype float16
tensor break q
core-file
tensor list
