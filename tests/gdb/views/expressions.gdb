# not: stripped stripped-attach static
tensor print q
tensor print cache[2][1, :]
tensor print cache[1]
tensor print layer.b
tensor print *&layer.b
tensor print cache[0]
tensor print mode
tensor print layer
tensor at cache[2]
tensor at nowhere
tensor at q
tensor print @(short)-2:f32:2
tensor print @-3:f32:2
tensor print @(unsigned)-2:f32:2
tensor print @(unsigned short)-2:f32:2
tensor print @2-5:f32:2
