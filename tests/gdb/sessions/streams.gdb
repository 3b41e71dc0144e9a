file queue
break checkpoint
run
frame function main
tensor status
tensor info next
tensor info bad
tensor info last --json
tensor eval now
tensor eval last
tensor print last
continue
