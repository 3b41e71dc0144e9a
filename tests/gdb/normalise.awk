# What differs between two runs of the same session: addresses, process and thread numbers,
# gdb's own chatter, directories, the machine's memory, where a waiting thread waits.
# said in other words by newer gdbs
/^tensor print 'two words'$/ { sub(/'$/, "") }
/^Do you need "set solib-search-path" or "set sysroot"\?$/ { next }
/^warning: [0-9]+\t.*: No such file or directory$/ { sub(/^warning: /, ""); $0 = $0 "." }
/^List of "tensor [^"]+" subcommands:$/ { gsub(/"/, "") }
/^Type "help [^"]+" followed by subcommand name / { split($0, quoted, /"(help )?/); sub(/followed by /, "&" quoted[2] " ") }
/^Reached end of recorded history; stopping\.$/ { $0 = "No more reverse-execution history." }
/^Backward execution from here not possible\.$/ { next }
/^Following forward execution will be added to history\.$/ { next }
/^Warning: \/nonexistent: No such file or directory\.$/ { next }
# where the libthread_db of the machine cannot be loaded, or knows nothing of a core's threads
/^(Warning: couldn't activate thread debugging|To (enable execution|completely disable)|For more information about this sec)/ { next }
/^(\tadd-auto-load-safe-path |\tset auto-load safe-path |line to your configuration file |"Auto-loading safe path"|\tinfo "\(gdb\)Auto)/ { next }
/^No breakpoints, watchpoints, tracepoints, or catchpoints\.$/ { $0 = "No breakpoints or watchpoints." }
/^\[LWP [0-9]+ (\(id [0-9]+\) )?exited\]$/ { next }
/^\[Thread debugging|^Using host libthread_db|^BFD: |^warning: |^\[New |^\[Thread |^\[Switching / { next }
/ - command (started|finished)$|^Command execution time/ { next }
/^Reading |^Remote debugging using|^Listening on|^Core was generated|^Process .* created/ { next }
/^Program terminated with|^Detaching from|^Debuginfod|^Downloading|^Enable debuginfod/ { next }
/^\[Inferior [0-9]+ \(.*\) (detached|killed)\]|^Child exited|^Killing|^GDBserver exiting/ { next }
# where the runtime itself stands, and the line there
/runtime\/[a-z_\/]*\.c(:[0-9]+|, line [0-9]+\.)$/ { runtime = 1; next }
runtime && /^[0-9]+\t/ { runtime = 0; next }
{ runtime = 0 }
/^ +0x[0-9a-f]+$|futex|__libc_start|[ (]_start|from (\/usr)?\/lib/ { next }
{
	gsub(/0x[0-9a-f]+/, "ADDRESS")
	gsub(/\<op=[0-9]+/, "op=N")
	sub(/ by [0-9]+ rules$/, " by N rules")
	sub(/"checked":\["L1",[^]]*\]/, "\"checked\":[IDS]")
	gsub(/(process|pid|LWP) [0-9]+/, "pid N")
	sub(/ is executing new program: .*/, " is executing new program")
	sub(/^.*\/tests\/gdb\/sessions\//, "")
	gsub(/Thread ADDRESS \(pid N\)/, "pid N")
	gsub(/looks at thread [0-9]+/, "looks at thread N")
	gsub(/tensor frame: thread [0-9]+/, "tensor frame: thread N")
	sub(/ goes to \/[^,]*\//, " goes to FOLDER/")
	gsub(/[^ "]*subject\.c/, "subject.c")
	gsub(/[^ "]*compiled\.c/, "compiled.c")
	gsub(/[^ "]*stepped\.c/, "stepped.c")
	gsub(/[^ "]*many\.c/, "many.c")
	gsub(/[^ "]*loads\.c/, "loads.c")
	gsub(/[^ "]*lazybones-[A-Za-z0-9]+\/[0-9]+\/unfinished/, "FOLDER/unfinished")
	gsub(/[^ "]*lazybones-[A-Za-z0-9]+\/[0-9]+\/graph/, "FOLDER/graph")
	if (/eval\(graph|stepped\.c/)
		sub(/^#[0-9]+ +/, "#N ")
	if (gsub(/[^ "]*caught\.c/, "caught.c"))
		sub(/^#[0-9]+ +(ADDRESS in )?/, "#N ") # how much of the runtime lies below, inlined, differs
	if (gsub(/[^ "]*named\.c/, "named.c") + gsub(/[^ "]*lazies\.c/, "lazies.c") + gsub(/[^ "]*sieved\.c/, "sieved.c"))
		sub(/^#[0-9]+ +(ADDRESS in )?/, "#N ")
	if (advised && /^#[0-9]+ .* at subject\.c/)
		sub(/^#[0-9]+ +(ADDRESS in )?/, "#N ")
	advised = /^  try: / || (advised && /^    /) # a catch has selected the frame
	sub(/Connection reset by peer/, "Broken pipe")
	sub(/<tensor data\+8>/, "<data+8>") # newer gdbs have the name of the variable
	sub(/<tensor few>/, "<few>")
	sub(/Target disconnected: error while (writing|reading): /, "Target disconnected.: ")
	sub(/ if .*\) pending\.$/, ") pending.")
	sub(/<in-memory@ADDRESS-ADDRESS>/, "<in-memory@ADDRESS>")
	gsub(/symbol table 1\.[0-9]+/, "symbol table 1.N")
	sub(/^thread +[0-9]+/, "thread N")
	sub(/^ *-?[0-9.]+ s +[0-9]+/, "  -T s  N")
	sub(/ in [0-9.]+ us$/, " in N us")
	sub(/^checkpoint [0-9]+: [0-9.]+ [KMG]iB, /, "checkpoint of SIZE, ")
	sub(/^ +thread [0-9]+ runs/, "           thread N runs")
	gsub(/[^ "]*plain\.c/, "plain.c")
	gsub(/limit [0-9.]+ [KMGT]iB/, "limit N")
	gsub(/in [0-9.]+ ([KMGT]i)?B of memory/, "in N of memory")
	gsub(/"eval_ns":[0-9]+/, "\"eval_ns\":N")
	gsub(/, [0-9.]+ [numk]?s\>/, ", TIME")
	sub(/^Thread [0-9.]+ "[^"]*" hit /, "")
	print
}
