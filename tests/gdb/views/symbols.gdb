# not: mi
tensor symbols
ptype tensor::q
print tensor::q
print tensor::q[0][3]@4
print tensor::q[1]
output tensor::q[2][1] * 2
echo \n
print 'blk.0.qt'
print blk_0_qt[0]
print 'a name'
print tensor::half
print tensor::brain[2]
print tensor::bad
print tensor::lazy
print sizeof(tensor::lazy)
complete print blk
complete print tensor::b
tensor symbols l* --peek
print tensor::lazy[0]
print layer_w
complete print a_n
tensor symbols --json
tensor symbols *qt --bytes 10
print blk_0_qt[0]
tensor symbols nobody
tensor symbols --remove
complete print blk_
tensor symbols --auto often
tensor symbols --bytes -1
tensor symbols --remove --out x
