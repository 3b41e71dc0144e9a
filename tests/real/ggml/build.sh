# Builds the program of ours that opens any ggml (program.c): $program.
program=$real/ggml/program

# An add-on wants node's functions when it is loaded, although nothing calls them here.
build_program()
{
	local addons
	mkdir -p "$real/ggml"
	addons=$(ls "$real"/ggml-*/*.node 2>/dev/null)
	nm -D --undefined-only $addons /dev/null 2>/dev/null |
		awk '$1 == "U" && $2 ~ /^napi_/ && !seen[$2]++ { printf "int %s(void);\nint %s(void) { return 1; }\n", $2, $2 }' \
			>"$scratch/napi.c"
	# Who runs it at this moment keeps what it runs.
	$CC -std=gnu17 -g -O0 -fno-omit-frame-pointer -rdynamic -Wall -Wextra -Werror -o "$scratch/program" \
		tests/real/ggml/{kinds,program,operations,repacked,trace,whisper}.c "$scratch/napi.c" -ldl -lm &&
		mv "$scratch/program" "$program"
}
