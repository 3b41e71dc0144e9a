file tailcalls
break lowest
commands
silent
end
run
tensor print q
tensor peek nothing
select-frame function main
tensor print q
continue
tensor print q
tensor peek nothing
select-frame function main
tensor print q
tensor peek nothing
continue
