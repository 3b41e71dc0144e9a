# what is no command says so, and which is meant
tensor theads
tensor lst q --json
tensor qqqqqq
tensor help raport
print $tensor_failed
pipe tensor | grep -c subcommands
set language rust
tensor pint q[0, 1] 2 3 4 5
