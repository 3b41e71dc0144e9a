"""What a timeline says of tests/tracers/jobs.c."""
import json
import sys

MIB = 1 << 20
events = json.load(open(sys.argv[1]))
slices = [e for e in events if e["ph"] == "X"]
evals = [e["name"] for e in slices if e["cat"] == "eval"]
print("evaluations", len(evals), len(set(evals)))

# each temporary, though it is gone between two samples
used = [e["args"]["in use"] for e in sorted((e for e in events if e["ph"] == "C" and "in use" in e["args"]),
                                            key=lambda e: e["ts"])]
high = [n >= 4 * MIB for n in used]
print("peaks", sum(1 for i, h in enumerate(high) if h and not (i and high[i - 1])))
print("allocations", "yes" if any(e["name"] == "alloc" and e["args"]["bytes"] >= 4 * MIB for e in events) else "no")

main = events[0]["pid"]
waits = [e for e in slices if e["cat"] == "wait" and e["tid"] == main]
print("waits", len(waits))
starts = {e["bind_id"] for e in slices if e.get("flow_out") and e["cat"] == "queue" and e["tid"] == main}
ends = {e["bind_id"] for e in slices if e.get("flow_in") and e["cat"] == "eval"}
print("arrows", len(starts), len(starts & ends))
