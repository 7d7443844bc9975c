// 200 random questions to the engine as WebAssembly and to the program: the same table, to the last printed digit.
// Usage: node tests/workshop/wasm_equals_native.mjs FORETRAIN [FOLDER of engine.js] [QUESTIONS]; ends with 77 where the engine was not built.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const program = process.argv[2] ?? 'build/release/foretrain';
const built = resolve(process.argv[3] ?? 'build/wasm');
const questions = Number(process.argv[4] ?? 200);
if (!existsSync(join(built, 'engine.wasm'))) { console.log(`skipped: no ${built}/engine.wasm; tools/build_wasm makes it`); process.exit(77); }

const engine = await createRequire(import.meta.url)(join(built, 'engine.js'))({ wasmBinary: readFileSync(join(built, 'engine.wasm')), locateFile: (name) => join(built, name) });
const took = [];
const answered = (question) => {
  const begun = performance.now();
  const answer = JSON.parse(engine.ccall('foretrain_answer', 'string', ['string'], [JSON.stringify(question)]));
  took.push(performance.now() - begun);
  return answer;
};

/** Numbers by chance, the same in every run (Park and Miller). */
let seed = 20261124;
const below = (n) => { seed = (seed * 48271) % 2147483647; return seed % n; };
const one = (list) => list[below(list.length)];

const names = (what) => execFileSync(program, ['list', what, '--names']).toString().trim().split('\n');
const models = names('models'), clusters = names('clusters'), strategies = names('strategies'), scenarios = names('scenarios').filter((name) => !name.endsWith('-study'));
const batches = [1, 8, 16, 32, 50, 64, 100, 256];

function line() {
  const words = below(4) === 0 ? [one(scenarios)] : ['--model', one(models), '--cluster', one(clusters), '--strategy', one(strategies)];
  if (below(2)) words.push('--batch', String(one(batches)));
  if (below(2)) words.push('--gpus', one(['1,2', '1,2,4', '2', '1,2,3,4']));
  if (below(4) === 0) words.push('--set', `cluster.link_speed=${one([0.1, 0.5, 2])}`);
  if (below(4) === 0) words.push('--set', `cluster.kernel_speed=${one([0.3, 3])}`);
  return words;
}

let alike = 0, exact = 0, refused = 0;
for (let i = 0; i < questions; ++i) {
  const words = line();
  const native = spawnSync(program, ['predict', ...words], { encoding: 'utf8', maxBuffer: 1 << 26 });
  const answer = answered({ arguments: words });
  if (native.status !== 0) {
    if (answer.ok || answer.errors !== native.stderr) console.log(`differs: ${words.join(' ')}\n  program: ${native.stderr.slice(0, 200)}\n  engine: ${(answer.errors ?? 'an answer').slice(0, 200)}`);
    else alike += 1, refused += 1;
    continue;
  }
  const json = JSON.parse(execFileSync(program, ['predict', ...words, '--format', 'json'], { stdio: ['ignore', 'pipe', 'ignore'], maxBuffer: 1 << 26 }));
  if (JSON.stringify(json) === JSON.stringify(answer.prediction)) exact += 1;
  if (answer.table === native.stdout) { alike += 1; continue; }
  const theirs = native.stdout.split('\n'), ours = (answer.table ?? answer.errors).split('\n');
  const at = theirs.findIndex((text, k) => text !== ours[k]);
  console.log(`differs: ${words.join(' ')}\n  program: ${theirs[at]}\n  engine:  ${ours[at]}`);
}
took.sort((a, b) => a - b);
console.log(`${alike} of ${questions} tables alike (${refused} refusals), ${exact} of ${questions - refused} alike in every bit of the JSON; an answer took ${took[took.length >> 1].toFixed(0)} ms at the median, ${took[Math.floor(0.95 * took.length)].toFixed(0)} at the 95th percentile, ${took[took.length - 1].toFixed(0)} at most`);
process.exit(alike === questions ? 0 : 1);
