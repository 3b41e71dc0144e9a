# Each line of a listing has its call's place, however many there are.
file named
tensor step on
break copied
run
pipe tensor listing 2 | grep -c 'named\.c:[0-9]* many_calls'
pipe tensor listing 2 --json | grep -o '"file_line":[0-9][0-9]*' | sort -u | wc -l
