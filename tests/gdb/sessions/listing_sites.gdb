# Each line of a listing has its call's place, however many there are.
file named
tensor step on
break copied
run
tensor listing 2
