# a line that is wrong is told in JSON, too, where that is asked for
file subject
break checkpoint
run
tensor list q k --json
tensor print q --nope --json
tensor where 1 --json
tensor explain Z9 --json
tensor explain Z9
tensor list q k
