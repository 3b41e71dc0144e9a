# A log that is begun, ended, and begun in another file.
file lazies
break chain
run
tensor log sum --out /nonexistent/one.jsonl
tensor log sum --out /
output $tensor_failed
echo \n
tensor log sum --out one.jsonl
continue
tensor log --off
continue
tensor log 's*' --out two.jsonl
continue
tensor log one.jsonl
tensor log two.jsonl
tensor log one.jsonl two.jsonl
kill
shell rm one.jsonl two.jsonl
