tensor memory --by name
printf "%d bytes\n", $tensor_bytes
tensor memory --by dtype
tensor memory --limit 3
tensor memory --by state --limit 1
tensor memory --by stream
tensor memory mark here
tensor memory --since here
tensor memory --by weight
tensor memory now
tensor memory --since nowhere
