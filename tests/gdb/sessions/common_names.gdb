# `break run` is meant for the program's own function: the library has none that is called so
file subject
break checkpoint
run
info functions -q -n ^\(run\|step\|check\|train\|update\|evaluate\|forward\|backward\|loss\|attention\|load\|save\|compute\|apply\|build\|work\|worker\)$
