// node host.js ADDON MODEL: completes a prompt by @fugood/node-llama, says `resting`, and waits until its input ends.
const { LlamaContext } = require(process.argv[2]);

async function main()
{
	const context = new LlamaContext({ model: process.argv[3], n_ctx: 128, n_threads: 1, n_gpu_layers: 0 });

	await context.completion({ prompt: 'hello world', n_predict: 4, temperature: 0, seed: 1 }, () => {});
	process.stdout.write('resting\n');
	process.stdin.on('end', () => process.kill(process.pid, 'SIGKILL')).resume();
}

main();
