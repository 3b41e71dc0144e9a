/* How many cores the process may keep busy. */
#ifndef LB_BASE_CORES_H
#define LB_BASE_CORES_H

/* Those it may run on, or fewer where its control groups give it less time (`docker run --cpus 2`): threads beyond are
 * stopped, all at once, until the next period. 1 at least. */
int lb_cores(void);
/* What control groups give: `list` is a /proc/PID/cgroup, whose hierarchies are below `root`. Whole cores, the last one perhaps
 * not all the time; INT_MAX: no limit. cgroups(7): cpu.max of version 2, cpu.cfs_quota_us of version 1. */
int lb_cores_of_groups(const char *list, const char *root);

#endif
