# a stream's own thread has no frame of the program's; the stop says so
file queue
tensor break last after
run
continue
