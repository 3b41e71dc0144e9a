# Programs that look as if they had PyTorch: their tensors, of several layouts, and what is said of damaged ones.

torch_like()
{
	local layout core
	for layout in 113 206 213 999; do
		mkdir -p "$work/torch$layout"
		if ! g++ -std=c++17 -g -DLAYOUT=$layout -shared -fPIC tests/cli/torch/c10.cc -o "$work/torch$layout/libc10.so" ||
			! g++ -std=c++17 -g -DLAYOUT=$layout tests/cli/torch/program.cc -o "$work/torch$layout/program" \
				-L"$work/torch$layout" -lc10 -Wl,-rpath,"$work/torch$layout" 2>"$work/torch.log"; then
			skip "no g++"
			return
		fi
		(cd "$work/torch$layout" && exec ./program) >/dev/null 2>&1
		core=$(echo "$work/torch$layout"/core*)
		torch_seen "a layout like PyTorch's ($layout)" "$core"
	done
}

torch_seen()
{
	local at
	check "$1: how it was decided" 'no other fits' core "$2" status
	check "$1: what there is" 'torch: 206 ready, 1 on device, 4 opaque; 0 named' core "$2" status
	check "$1: damaged ones are told" '7 records of this core file could not be read or are damaged' core "$2" list
	check "$1: a view" ' [17. 19.]]' core "$2" print '#202'
	check "$1: axes that lie outside" '#203: float32 (1, 2, 1, 3, 1, 4)' core "$2" print '#203'
	check "$1: an empty one" '[]' core "$2" print '#204'
	check "$1: one without a value" '#205 cannot be shown: it is on the meta device, and has no value' core "$2" print '#205'
	check "$1: one on a device" '#206 is on cuda:2: its value is not in' core "$2" print '#206'
	check "$1: quantised ones" '[0.  0.5 1. ]' core "$2" print '#207'
	check "$1: one of another class" '#208 cannot be shown: at::SparseTensorImpl' core "$2" print '#208'
	check "$1: of the program's own class" '#209 cannot be shown: MaskedTensor' core "$2" print '#209'
	check "$1: a lazy negative" '#210 cannot be shown: its elements stand for others' core "$2" print '#210'
	check "$1: without autograd" '[0. 1. 2. 3. 4. 5.]' core "$2" print '#211'
	at=$("$O/bin/lazybones" core "$2" info '#202' | sed -n 's/^  data  *//p')
	check "$1: an address within a storage" '#202 (float32' core "$2" at "$at"
	check "$1: its elements" ': element [0, ' core "$2" at "$at"
	check "$1: whose memory it is" '#202 (float32' core "$2" owner "$at"
	check "$1: memory counts a storage once" ' 115 B' core "$2" memory
}
