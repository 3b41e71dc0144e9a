tensor graph lazy
tensor graph lazy --depth 1
tensor graph lazy --limit 2
tensor graph blk.0.qt
tensor graph blk.0.qt --history
tensor graph lazy --dot /dev/null
tensor graph lazy[0]
tensor graph lazy --dot /nonexistent/lazy.dot
tensor graph nobody
