file subject
break checkpoint
run
up
tensor save q q.npy
tensor save q q.npy
tensor save q q.npy --force
tensor save blk.0.qt[1:] q.npz
tensor save brain brain.npy --force
tensor save brain brain.safetensors:weights --force
tensor save lazy lazy.npz:answer --force --json
tensor save q q.txt
tensor save q q.npy:name
tensor save q /nonexistent/q.npy
tensor diff q q.npy
tensor diff q[::-1] q.npy
tensor diff blk.0.qt[1:] q.npz
tensor diff brain brain.npy
tensor diff 'brai?' brain.npy
tensor diff half brain.safetensors
tensor diff brain brain.safetensors:nothing
tensor diff lazy lazy.npz:answer
tensor diff q lazy.npz
shell printf 'GGUF\003\000\000\000' >short.gguf
tensor diff q short.gguf
shell printf '\223NUMPY' >short.npy
tensor diff q short.npy
kill
shell rm q.npy q.npz brain.npy brain.safetensors lazy.npz short.gguf short.npy
