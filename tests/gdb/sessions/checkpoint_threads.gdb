# where the thread is not the first: that one is looked at, and come back to
set print symbol off
file stepped
set args threads
break together
run
up
tensor checkpoint
pipe thread 1 | grep -c Thread
pipe frame function main | grep -o 'in main'
tensor checkpoint
pipe tensor restart 1 | grep -o 'in meet'
frame
pipe tensor restart | grep -o 'in main'
tensor checkpoint --list
pipe tensor restart 2 | grep -o 'in main'
frame
pipe tensor restart | grep -o 'in main'
