file plain
break main
run
tensor print q
tensor status
tensor list --json
tensor catch nan
tensor break x
tensor step in
continue
