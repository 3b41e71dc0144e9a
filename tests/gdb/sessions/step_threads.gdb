file stepped
tensor step on
break together
run threads
pipe thread apply all -q bt | grep -o 'eval(graph [0-9]*) () at.*' | sed 's/graph.[0-9]*/graph N/g' | sort
tensor listing 1
pipe tensor listing 2 | sed 's/#[0-9]*/#N/' | grep -c '= exp(in1)\|= sum(in1)'
pipe tensor listing 3 | sed 's/#[0-9]*/#N/' | grep -c '= exp(in1)\|= sum(in1)'
pipe tensor listing | grep -c 'under way'
continue
