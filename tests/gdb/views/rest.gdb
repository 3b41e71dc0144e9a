tensor listing
tensor listing 7
tensor compiled
tensor help hist
tensor help nothing
tensor quant q
tensor attention q
tensor attention q q --causal --scale 0.01
tensor attention q --causal
tensor save q /nonexistent/q.npy
tensor digest
tensor digest -o /nonexistent/q.digest
tensor log
tensor log /nonexistent/run.jsonl
tensor weights /nonexistent/q.npy
tensor diff-graph 1 2
