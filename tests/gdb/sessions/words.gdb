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
tensor print ++cache[2]
tensor print 2*++half
tensor print (q, half)
tensor print ((q), q)
tensor print (q - -q)[0]
tensor print cache[2] = 3
tensor print (q == 3).sum(axis=1)
tensor print $nonsense
tensor print "no such name"
tensor print 100%s
tensor print back\slash
tensor print $argc
tensor print q [0] + 1 - 1 + 1 - 1 + 1 - 1 + 1 - 1 + 1 - 1 + 1
tensor print 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64 65
tensor list "unbalanced
tensor print noÿtext --json
