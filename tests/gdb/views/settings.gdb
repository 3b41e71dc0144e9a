tensor set edge-items 1
tensor set threshold 4
tensor print q
tensor set edge-items 3
tensor set threshold 1000
tensor set nonsense 1
tensor set precision many
with width 44 -- tensor stats q
