// The page: a question, knobs, and what the simulator answers. The link always holds what is asked.
import '../../report/src/style.css';
import './style.css';
import { h, short } from '../../report/src/dom';
import { theme } from '../../report/src/theme';
import { Knob, list, slider } from './controls';
import { Answer, Engine, findEngine, Item } from './engine';
import { findPreset, kPresets, Preset } from './presets';
import { refusal, results } from './results';
import { asHash, commandOf, fromHash, kUnsaid, questionOf, State } from './state';

const kLargestFile = 1 << 20;
const kDoublings = Array.from({ length: 13 }, (_, i) => 2 ** i);
const kBatches = [...kDoublings, ...kDoublings.slice(2, 12).map((n) => 1.5 * n)].sort((a, b) => a - b);
const kFactors = [0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 10];

let state: State = { ...kUnsaid };
let files: Record<string, string> = {};
let engine: Engine;
let lists: Answer;
let asked = '';                    // the question of the answer that is shown
let shown: Answer | null = null;
let busy = false;
/** What the scenario says of a knob, as last seen unturned. */
const usual: Record<string, number> = {};
const revealed = new Set<string>();

const byId = (id: string): HTMLElement => document.getElementById(id)!;
const cluster = (): Item | undefined => lists.clusters!.find((c) => c.name === (state.cluster || shown?.prediction?.cluster));
const perNode = (): number => cluster()?.gpus_per_node ?? 4;
const question = (): ReturnType<typeof questionOf> => questionOf(state, perNode(), files);

/** One question at a time; of those that come meanwhile only the last is asked. */
async function ask(): Promise<void> {
  const wanted = JSON.stringify(question());
  if (busy || wanted === asked) return;
  busy = true;
  document.documentElement.dataset.busy = 'yes';
  const begun = performance.now();
  const answer = await engine.ask(JSON.parse(wanted)).catch((error) => ({ ok: false, errors: `The engine does not answer: ${error}` }));
  busy = false;
  asked = wanted;
  show(answer, performance.now() - begun);
  if (JSON.stringify(question()) === asked) document.documentElement.dataset.busy = 'no';
  void ask();
}

function show(answer: Answer, took: number): void {
  if (answer.ok) { shown = answer; remember(answer); }
  const room = byId('results');
  const hidden = isHidden();
  if (!answer.ok) room.replaceChildren(refusal(answer.errors ?? ''));
  else if (hidden) room.replaceChildren(h('p', { class: 'veil' }, 'Guess first: the answer is behind the button.'));
  else room.replaceChildren(results(answer, commandOf(question()), () => engine.ask({ ...question(), job: true })));
  showControls();
  showLesson();
  byId('took').textContent = `${took.toFixed(0)} ms, by ${engine.name}`;
  document.documentElement.dataset.took = took.toFixed(1);
  document.documentElement.dataset.answers = String(Number(document.documentElement.dataset.answers ?? 0) + 1);
  document.documentElement.dataset.ready = 'yes';
}

/** Of knobs that nobody turned, the answer tells where they stand. */
function remember(answer: Answer): void {
  const last = answer.prediction.points[answer.prediction.points.length - 1], toml = answer.scenario_toml ?? '';
  const said = (key: string): number => Number(new RegExp(`^${key} = (\\d+)`, 'm').exec(toml)?.[1] ?? NaN);
  if (state.gpus === 0) usual.gpus = last.gpus;
  if (state.batch === 0) usual.batch = answer.prediction.scaling === 'strong' ? last.global_batch : last.batch_per_gpu;
  if (state.workers < 0) usual.workers = said('workers_per_gpu');
  if (state.cores === 0) usual.cores = said('cores_per_gpu');
  if (state.bucket === 0) usual.bucket = 25;
}

/** Moving replaces the link, resting makes a new step back. */
function turn(change: Partial<State>, moving = false): void {
  state = { ...state, ...change };
  const hash = asHash(state);
  if (moving) history.replaceState(null, '', hash); else if (hash !== location.hash) history.pushState(null, '', hash);
  void ask();
}

function choosePreset(id: string): void {
  const preset = findPreset(id);
  files = {};
  if (preset) turn({ ...kUnsaid, ...preset.state, preset: id }); else turn({ preset: '' });
  showFiles();
}

const isHidden = (): boolean => state.preset !== '' && findPreset(state.preset) !== undefined && !revealed.has(state.preset);

function showLesson(): void {
  const preset = findPreset(state.preset), room = byId('lesson');
  if (!preset) { room.replaceChildren(); room.dataset.for = ''; return; }
  const mark = `${preset.id}/${revealed.has(preset.id)}`;
  if (room.dataset.for === mark) return;
  room.dataset.for = mark;
  room.replaceChildren(h('section', { class: 'card lesson', 'aria-label': 'The question' }, h('p', { class: 'kind' }, preset.course), h('h2', {}, preset.title), h('p', {}, preset.question),
    revealed.has(preset.id) ? verdict(preset) : guessForm(preset)));
}

const guesses: Record<string, number> = {};
function guessForm(preset: Preset): HTMLElement {
  const box = h('input', { type: 'number', id: 'guess', step: 'any', min: 0, required: true, inputmode: 'decimal' }) as HTMLInputElement;
  return h('form', { class: 'guess', onsubmit: (event: Event) => {
    event.preventDefault();
    guesses[preset.id] = box.valueAsNumber;
    reveal(preset);
  } }, h('label', { for: 'guess' }, preset.guess.ask), box, h('span', {}, preset.guess.unit), h('button', { type: 'submit', class: 'small strong' }, 'That is my guess'),
  h('button', { type: 'button', class: 'small', id: 'show', onclick: () => reveal(preset) }, 'Just show it'));
}

function reveal(preset: Preset): void {
  revealed.add(preset.id);
  if (shown) show(shown, Number(document.documentElement.dataset.took));
}

function verdict(preset: Preset): HTMLElement {
  const value = shown?.prediction ? preset.guess.of(shown.prediction) : NaN, guess = guesses[preset.id];
  const unit = preset.guess.unit;
  const said = Number.isFinite(guess) ? `You guessed ${guess}${unit}. ` : '';
  return h('div', {}, h('p', { class: 'verdict', 'data-verdict': value.toFixed(4) }, `${said}foretrain says ${value.toFixed(2)}${unit}.`),
    h('p', { class: 'note' }, 'Now turn the knobs:'), h('ul', { class: 'plain' }, ...preset.tries.map((t) => h('li', {}, t))));
}

const noted = (value: number): number => value || NaN;
interface Controls { preset: HTMLSelectElement; scenario: ReturnType<typeof list>; model: ReturnType<typeof list>; cluster: ReturnType<typeof list>; strategy: ReturnType<typeof list>;
  gpus: Knob; batch: Knob; bucket: Knob; workers: Knob; cores: Knob; links: Knob; kernels: Knob }
let controls: Controls;

function makeControls(): HTMLElement {
  const whole = (value: number): string => String(value);
  const factor = (value: number): string => `${value}\u00d7`;
  const knob = (key: keyof State, label: string, steps: number[], say: (v: number) => string): Knob =>
    slider(label, key, { steps, say }, (value, moving) => turn({ [key]: Number.isNaN(value) ? kUnsaid[key] : value }, moving));
  const select = h('select', { id: 'preset', onchange: () => choosePreset(select.value) },
    h('option', { value: '' }, 'No question, just knobs'), ...kPresets.map((p) => h('option', { value: p.id }, `${p.title} \u2013 ${p.course}`))) as HTMLSelectElement;
  controls = {
    preset: select,
    scenario: list('Scenario', 'scenario', lists.scenarios!, 'none', (name) => turn({ ...kUnsaid, scenario: name, preset: '' })),
    model: list('Model', 'model', lists.models!, 'none', (name) => turn({ model: name })),
    cluster: list('Cluster', 'cluster', lists.clusters!, 'none', (name) => turn({ cluster: name, gpus: 0 })),
    strategy: list('Strategy', 'strategy', lists.strategies!, 'none', (name) => turn({ strategy: name })),
    gpus: knob('gpus', 'GPUs, at most', [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024], whole),
    batch: knob('batch', 'Batch', kBatches, whole),
    bucket: knob('bucket', 'Gradient bucket', [1, 2, 5, 10, 15, 25, 40, 60, 100, 200, 400], (v) => `${v} MiB`),
    workers: knob('workers', 'Loader workers per GPU', [0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32], whole),
    cores: knob('cores', 'CPU cores per GPU', [1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 18, 24, 32, 48, 64], whole),
    links: knob('links', 'What if links were \u2026 as fast', kFactors, factor),
    kernels: knob('kernels', 'What if kernels were \u2026 as fast', kFactors, factor),
  };
  return h('form', { class: 'card knobs', 'aria-label': 'What is asked', onsubmit: (event: Event) => event.preventDefault() },
    h('div', { class: 'knob' }, h('label', { for: 'preset' }, 'Question'), select), controls.scenario.row, controls.model.row, controls.cluster.row, controls.strategy.row,
    controls.gpus.row, controls.batch.row, controls.bucket.row, controls.workers.row, controls.cores.row, controls.links.row, controls.kernels.row, dropZone());
}

function showControls(): void {
  const p = shown?.prediction;
  controls.preset.value = findPreset(state.preset) ? state.preset : '';
  controls.scenario.show(state.scenario, '');
  controls.model.show(state.model, p && !state.model ? p.model : '');
  controls.cluster.show(state.cluster, p && !state.cluster ? p.cluster : '');
  controls.strategy.show(state.strategy, p && !state.strategy ? p.strategy : '');
  const has = (name: string): boolean => (state.strategy || p?.strategy) === name;
  const alone = p && p.points.length === 1 && p.points[0].gpus === 1;
  controls.gpus.show(noted(state.gpus), usual.gpus ?? NaN, has('single') ? 'This strategy has one GPU.' : '', cluster()?.most_gpus);
  controls.batch.show(noted(state.batch), usual.batch ?? NaN, '');
  controls.bucket.show(noted(state.bucket), usual.bucket ?? NaN, has('ddp') ? (alone ? 'One GPU sends nothing.' : '') : 'Only ddp has buckets of this kind.');
  controls.workers.show(state.workers < 0 ? NaN : state.workers, usual.workers ?? NaN, '');
  controls.cores.show(noted(state.cores), usual.cores ?? NaN, '');
  controls.links.show(state.links === 1 ? NaN : state.links, 1, alone ? 'One GPU sends nothing.' : '');
  controls.kernels.show(state.kernels === 1 ? NaN : state.kernels, 1, '');
}

function dropZone(): HTMLElement {
  const input = h('input', { type: 'file', id: 'file', multiple: true, class: 'unseen-input', onchange: () => { void take([...(input.files ?? [])]); input.value = ''; } }) as HTMLInputElement;
  return h('div', { class: 'knob drop', id: 'drop' }, h('label', { for: 'file', class: 'small button' }, 'Your own file'), input,
    h('p', { class: 'note' }, 'A cluster, model or scenario in TOML, or a job script: choose it, or drop it anywhere. It stays in this browser.'), h('ul', { class: 'plain', id: 'files' }), h('p', { class: 'note fault', id: 'file-fault', role: 'alert' }));
}

/** What a file is, by what stands in it. */
function use(name: string, text: string): Partial<State> {
  if (/^\s*layers\s*=/m.test(text) || /^\s*\[transformer\]/m.test(text)) return { model: name };
  if (/^\s*\[node(\.|\])/m.test(text) || /^\s*node\s*=/m.test(text) || /^\s*nodes\s*=/m.test(text)) return { cluster: name, gpus: 0 };
  return { ...kUnsaid, scenario: name };
}

async function take(chosen: File[]): Promise<void> {
  const fault = byId('file-fault');
  fault.textContent = '';
  for (const file of chosen.slice(0, 8)) {
    if (file.size > kLargestFile) { fault.textContent = short(`${file.name} has ${(file.size / 1048576).toFixed(1)} MiB; at most 1 MiB is read.`, 300); continue; }
    const bare = file.name.replaceAll('/', '_').slice(-200), name = /\.(toml|sh|sbatch|slurm|sub|txt)$/.test(bare) ? bare : `${bare}.toml`;
    files = { ...files, [name]: await file.text() };
    turn({ preset: '', ...use(name, files[name]) });
  }
  showFiles();
}

function showFiles(): void {
  byId('files').replaceChildren(...Object.keys(files).map((name) => h('li', {}, short(name, 60), ' ', h('button', { type: 'button', class: 'small', 'aria-label': `Forget ${short(name, 60)}`, onclick: () => {
    const { [name]: _, ...rest } = files;
    files = rest;
    const forget = (key: 'scenario' | 'model' | 'cluster'): Partial<State> => state[key] === name ? { [key]: kUnsaid[key] } : {};
    turn({ ...forget('scenario'), ...forget('model'), ...forget('cluster') });
    showFiles();
  } }, '\u00d7'))));
}

function watchDrops(): void {
  window.addEventListener('dragover', (event) => { event.preventDefault(); document.body.classList.add('dropping'); });
  window.addEventListener('dragleave', (event) => { if (!event.relatedTarget) document.body.classList.remove('dropping'); });
  window.addEventListener('drop', (event) => {
    event.preventDefault();
    document.body.classList.remove('dropping');
    void take([...(event.dataTransfer?.files ?? [])]);
  });
}

async function start(): Promise<void> {
  const page = byId('page');
  page.append(h('header', { class: 'top' }, h('div', {}, h('p', { class: 'kind' }, 'foretrain workshop'), h('h1', {}, 'How fast is a training on N GPUs, and why?')), h('div', { class: 'tools' }, theme())));
  try {
    engine = await findEngine();
    lists = await engine.ask({ list: true });
    if (!lists.ok) throw new Error(lists.errors);
  } catch (error) {
    page.append(refusal(`The simulator behind this page does not start: ${error}\n\`foretrain serve\` shows this page with one; a folder of \`make page\` needs a web server.`));
    return;
  }
  state = fromHash(location.hash);
  page.append(h('div', { class: 'bench' }, makeControls(), h('main', { 'aria-live': 'off' }, h('div', { id: 'lesson' }), h('div', { id: 'results' }, h('p', { class: 'note' }, 'Computing \u2026')))),
    h('footer', {}, h('p', { id: 'took' }), h('p', {}, 'The link in the address bar holds all of this.')));
  showControls();
  showLesson();
  watchDrops();
  const back = (): void => { state = fromHash(location.hash); showLesson(); void ask(); };
  window.addEventListener('popstate', back);
  window.addEventListener('hashchange', back);
  if ('serviceWorker' in navigator && engine.name.startsWith('WebAssembly')) void navigator.serviceWorker.register('sw.js').catch(() => undefined);
  await ask();
}

void start();
