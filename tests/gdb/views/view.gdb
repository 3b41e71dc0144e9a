# not: stripped stripped-attach static
tensor view picture 2,3
tensor view &picture[1][2] f32 (3, 2) -1,-3
tensor view picture f32 (3,2)[::-1, 0]
tensor view picture f32 2,2,3 0,3,1 --stats --first 2
tensor print @picture:2,3[1]
tensor stats @picture:u8:24 --first 4
tensor print @half_way:f16:4:-1
tensor view half_way 2 -1
tensor hist @picture:6 --bins 2
tensor diff @picture:2,3 @picture:f32:2,3:3,1 --json
tensor diff @picture:2,3 @picture:f32:2,3:1,2
tensor print @picture:f32:3 --json
tensor view picture 3,x
tensor view picture f33 3 1
tensor view nothing f32 3
tensor view q f32 3
tensor view 0x10 f32 3
tensor view 0x10 f32 9223372036854775807,3
tensor print @0x10
tensor info @picture:3
tensor diff @checkpoint:u8:4 @&checkpoint:u8:4
tensor view checkpoint 4
tensor at picture
tensor at checkpoint
