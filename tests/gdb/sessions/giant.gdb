file subject
break checkpoint
run huge
tensor peek giant[1, 2, :3]
tensor peek giant[-1, ::500, 7]
tensor diff giant[0, 0, :5] giant[0, 1, :5]
tensor peek giant
tensor peek giant[7000]
tensor stats giant[0, 0]
tensor peek endless[123456789012345678]
tensor peek endless[-2:]
tensor set replay-memory 1M
tensor peek giant[5]
tensor peek giant[5, 0, 0]
kill
