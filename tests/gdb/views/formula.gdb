tensor print q + 1
tensor print abs(q - q.mean()).max()
tensor print (q > 10).sum(axis=1)
tensor print q[q > 10]
tensor print q.T[0]
tensor print blk.0.qt * 2
tensor print 'a name' + 'a name'
tensor print half.astype(float32).sum()
tensor print q.T @ q
tensor stats (q - 3) / 2
tensor diff q (q + 0)
tensor diff q (q * 2) --explain off
tensor print --json q.shape
tensor print q @ q
tensor print q.mena()
tensor print q +
tensor info q + 1
tensor print nothing + 1
