# more than the limit is in use when it is set: a stop at the next growth, once
file subject
break checkpoint
run
tensor catch memory 1
continue
continue
