"""What a timeline says of tests/tracers/jobs.c."""
import json
import sys

MIB = 1 << 20
events = json.load(open(sys.argv[1]))
slices = [e for e in events if e["ph"] == "X"]
evals = [e["name"] for e in slices if e["cat"] == "eval"]
print("evaluations", len(evals), len(set(evals)))

# temporaries that are gone between two samples; what comes and goes within 50 us may be one peak
used = [e["args"]["in use"] for e in events if e["ph"] == "C" and "in use" in e["args"]]
print("peaks", "yes" if max(used) >= 4 * MIB and min(used) < 4 * MIB else "no")
print("allocations", "yes" if any(e["name"] == "alloc" and e["args"]["bytes"] >= 4 * MIB for e in events) else "no")

main = events[0]["pid"]
waits = [e for e in slices if e["cat"] == "wait" and e["tid"] == main]
print("waits", len(waits))
starts = {e["bind_id"] for e in slices if e.get("flow_out") and e["cat"] == "queue" and e["tid"] == main}
ends = {e["bind_id"] for e in slices if e.get("flow_in") and e["cat"] == "eval"}
print("arrows", len(starts), len(starts & ends))
