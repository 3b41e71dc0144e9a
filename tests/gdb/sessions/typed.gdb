file typed
tensor symbols --remove
tensor symbols --auto on
break stop
run
frame function main
tensor symbols
frame
print d_bool
print d_u8
print/d d_u8
print d_u16
print d_u32
print d_u64
print/d 'd.i8'
print d_i16
print d_i32
print d_i64
print d_f16
print d_bf16
print d_f32
print d_f64
print d_c64
print/d negative
print scalar
print none
print deep
print deep[0][1][0][0][1]
whatis wide
ptype d_u8
ptype d_bf16
ptype scalar
ptype none
ptype deep
continue
print weight
complete print d_
info variables -q -n ^(weight|step)$
print step
print tensor::step
print weight[1][0] * 10
print &weight[1]
watch weight[1][0]
display/f weight[1]
display tensor::step[0]
continue
continue
continue
print loss
complete print loss_
print 'tensor'::int_
print int_
print tensor::tensor_
print tensor::weight
info watchpoints
delete 2
info display
undisplay
continue
complete print weig
continue
print tensor::step
run
print d_u16
continue
print tensor::step
tensor symbols --auto off
continue
print tensor::step
tensor symbols --remove
complete print weig
complete hook-stop
