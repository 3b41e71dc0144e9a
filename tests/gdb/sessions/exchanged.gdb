# Where a tensor was made is told by the library that lies there now.
file exchanged
break checkpoint
run
tensor info made
tensor info made
continue
tensor info made
delete
continue
