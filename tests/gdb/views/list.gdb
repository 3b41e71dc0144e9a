tensor list
tensor list --state lazy --limit 3
tensor list *a* --sort name
tensor list --dtype float16
