tensor print q
tensor print blk.0.qt
tensor print blk.0.qt[::-1, 1]
tensor print "a name"
tensor print half --precision 3
tensor print brain[0, :]
tensor print bad --precision 4
tensor print row[-2:]
tensor print #14
