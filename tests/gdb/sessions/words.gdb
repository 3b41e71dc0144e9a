file subject
break checkpoint
run
frame function main
tensor print q[ 0 ,  1 : 3 ]
tensor print "a name"[0]
tensor print 'a name'[0, 1]
tensor print q[0]   --precision   3
tensor list *.w
tensor list "a *"
tensor list [abh]*
tensor print q[..., -1]
tensor print cache[1 + 1][0]
tensor print (lb_tensor *)cache[2][0]
tensor print cache[2], q
tensor info q, half
tensor print cache[2]++
tensor print cache[2] = 3
tensor print (q == 3).sum(axis=1)
tensor print $nonsense
tensor print "no such name"
tensor print 100%s
tensor print back\slash
tensor print $argc
tensor print a b c d e f g h i j k l m n o p q r s t
tensor list "unbalanced
tensor print noÿtext --json
