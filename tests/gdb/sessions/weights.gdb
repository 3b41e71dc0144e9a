# activations and inputs are no weights, though they have names, unless a checkpoint has them, too
file layered
break checkpoint
run
tensor save layer.weight layered.safetensors --force
tensor weights layered.safetensors
tensor save hidden layered.npz:hidden --force
tensor weights layered.npz
tensor weights layered.npz --json
