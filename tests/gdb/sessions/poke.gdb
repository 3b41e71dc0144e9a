# elements of views, of dtypes that C has not, and what cannot be
file subject
break checkpoint
run
tensor poke q[0, 1] = -2.5
tensor print q
tensor print blk.0.qt[:, 0]
tensor poke blk.0.qt[-1, :]=7
tensor print q
tensor poke brain[0, 0] = 3
tensor print brain[0]
tensor poke half[0] = inf
tensor print half
tensor poke q[0, 1] = nan
tensor poke q[0, 9] = 1
tensor poke q[0, 0]
tensor poke q[0, 0] =
tensor poke q[0, 0] = five
tensor poke q == 1
tensor poke q * 2 = 1
tensor poke nobody = 1
tensor poke lazy = 1
tensor poke --json q[2, 2] = 1e-3
kill
tensor poke q[0, 0] = 1
