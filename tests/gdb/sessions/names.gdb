# Whatever is in a name: it can be said, in quotes or as it is; and so can what TAB offers of tensors.
tensor catch eval 'to come[3]'
tensor break later[0].w
file named
break checkpoint
run
frame function main
tensor list
tensor print layers[0].weight
tensor print 'layers[0].weight'[1, 0]
tensor print a.b[0].c[0]
tensor print t[0,1]
tensor print 't'[0,1]
tensor print x[::2]
tensor print w[0][0]
tensor print it's "q"
tensor print "it's \"q\""[0]
tensor print 'it\'s "q"'[0]
tensor print back\slash[0]
tensor print "back\\slash"[0]
tensor print two words [0]
tensor print "two words"[0]
tensor print ]odd[[0]
tensor print #3[0]
tensor print '#3'[0]
tensor print '@mem:f32:3'[0]
tensor print '--dash'[0]
tensor print -5[0]
tensor print 100%[0]
tensor print $_exit[0]
tensor print (p)[0]
tensor print ~/x[0]
tensor print *[0]
tensor print 'all'[0]
tensor print "'all'"[0]
tensor print ' lead'[0]
tensor print 'trail '[0]
tensor print tab?x[0]
tensor print a/b:c[0]
tensor print naïve ü[0]
tensor print twice[0]
tensor print 'twice'[0]
tensor print 'nothing'[0]
tensor print 'not closed
tensor hist "two words" --bins 2
tensor plot 'a.b[0].c'[0] --rows 2 --width 20
tensor diff a/b:c 'two words'[:, :] --explain off
tensor diff 't'[0,1] '--dash'[1, 0] --explain off
tensor graph t[0,1]
tensor quant 'it\'s "q"'
tensor save 'two words' named.npy --force
tensor diff 'two words' "named.npy"
tensor list layers[0].*
tensor list layers[*
tensor list t[0,1]
tensor list 'two words' --json
tensor at $tensor_data
tensor symbols
complete tensor print laye
tensor print layers_1__weight[0]
tensor print tensor::two_words[0]
tensor print tensor::two words[0]
tensor print tensor::t_9[0]
continue
continue
tensor uncatch
