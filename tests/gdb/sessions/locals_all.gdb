file held
break checkpoint
run
up
tensor locals
tensor locals --all
tensor frame
tensor frame 1 --all
