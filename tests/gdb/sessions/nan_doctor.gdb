# At a stop at a NaN the doctor tells of the tensor that has just got it.
file subject
tensor catch nan late
run
tensor doctor --only N1
tensor origin $tensor_id
