// The page: a question, knobs, and what the simulator answers. The link always holds what is asked and what is pinned.
import '../../report/src/style.css';
import './style.css';
import { h, short } from '../../report/src/dom';
import { theme } from '../../report/src/theme';
import { clusters, models, scenarios, strategies } from './catalog';
import { kPinColors, Pinned, pinName } from './compare';
import { Answer, Engine, findEngine, Question } from './engine';
import { OwnFiles, questionName, use, whyNot } from './files';
import { Knobs, makeKnobs } from './knobs';
import { isHidden, lessonPart, questionList } from './lesson';
import { findPreset, stateOf } from './presets';
import { refusalCard, sentences } from './refusals';
import { results } from './results';
import { asHash, clamped, commandOf, fromHash, kMostPins, kUnsaid, questionOf, State } from './state';

let state: State = { ...kUnsaid };
let pins: State[] = [];
let files: OwnFiles = {};
let engine: Engine, lists: Answer, knobs: Knobs;
let asked = '';                       // the question of the answer that is shown
let shown: Answer | null = null;      // the last that was none of refusals
let good: State | null = null;        // its question
let refused = '';
let busy = false;
/** Answers by question: a pin is asked once. */
const answered = new Map<string, Answer>();
const kMostKept = 60;

const byId = (id: string): HTMLElement => document.getElementById(id)!;
const flags = document.documentElement.dataset;
/** The cluster and the strategy of a scenario of the catalog, whose summary is "MODEL on CLUSTER with STRATEGY". */
const scenarioOf = (one: State): RegExpExecArray | null => / on (\S+) with (\S+)$/.exec(lists.scenarios!.find((s) => s.name === one.scenario)?.summary ?? '');
const clusterOf = (one: State): { most_gpus?: number; gpus_per_node?: number } | undefined => lists.clusters!.find((c) => c.name === (one.cluster || scenarioOf(one)?.[1] || shown?.prediction?.cluster));
/** Whether the strategy has an option; of one that nobody knows yet all. */
const hasOption = (one: State) => (option: string): boolean => {
  const name = one.strategy || (one.scenario ? scenarioOf(one)?.[2] : 'ddp') || shown?.prediction?.strategy;
  const strategy = lists.strategies!.find((s) => s.name === name);
  if (option === 'single') return name === 'single';
  return !strategy?.options || strategy.options.includes(option);
};
function question(one: State): Question {
  const named = Object.fromEntries(Object.entries(files).filter(([name]) => [one.scenario, one.model, one.cluster].includes(name) || Object.values(files).some((text) => text.includes(name))));
  return questionOf(clamped(one).state, clusterOf(one)?.gpus_per_node ?? 4, named, hasOption(one));
}

async function answerTo(one: Question): Promise<Answer> {
  const key = JSON.stringify(one), kept = answered.get(key);
  if (kept) return kept;
  const answer = await engine.ask(one).catch((error) => ({ ok: false, errors: `error: The simulator does not answer: ${error}` } as Answer));
  if (answer.ok) answered.set(key, answer);
  if (answered.size > kMostKept) answered.delete(answered.keys().next().value!);
  return answer;
}

/** All that the page depends on: the deadline and the question of a course change no prediction. */
const wish = (): string => JSON.stringify([state, pins, Object.keys(files)]);

/** One question at a time; of those that come meanwhile only the last is asked. */
async function ask(): Promise<void> {
  const wanted = wish();
  if (busy || wanted === asked) return;
  busy = true;
  flags.busy = 'yes';
  const one = { ...state };  // a slider may move on meanwhile
  const begun = performance.now(), answer = await answerTo(question(one)), took = performance.now() - begun;
  take(answer, one);
  for (const pin of pins) await answerTo(question(pin));
  busy = false;
  asked = wanted;
  const drawing = performance.now();
  show();
  flags.took = took.toFixed(1);
  flags.drawn = (performance.now() - drawing).toFixed(1);
  byId('took').textContent = `${took.toFixed(0)} ms, by ${engine.name}`;
  flags.answers = String(Number(flags.answers ?? 0) + 1);
  flags.ready = 'yes';
  if (wish() === asked) flags.busy = 'no';
  void ask();
}

function take(answer: Answer, one: State): void {
  refused = answer.ok ? '' : answer.errors ?? 'error: no answer';
  if (answer.ok) { shown = answer; good = one; }
}

const pinned = (): Pinned[] => pins.map((pin, i) => {
  const answer = answered.get(JSON.stringify(question(pin)));
  return { name: pinName(i), color: kPinColors[i], state: pin, prediction: answer?.prediction, page: answer?.page };
});

function show(): void {
  const room = byId('results'), undo = good && refused ? () => turn({ ...good }) : null;
  const notice = refused ? refusalCard(refused, Object.keys(files), shown !== null, undo) : null;
  if (isHidden(state)) room.replaceChildren(...(notice ? [notice] : []), h('p', { class: 'veil' }, 'Guess first: the answer is behind the button.'));
  else if (!shown) room.replaceChildren(notice ?? '');
  else {
    const ofState = refused && good ? good : state;
    room.replaceChildren(...(notice ? [notice] : []), results({ answer: shown, notes: clamped(ofState).notes, state: ofState, pins: pinned(), command: commandOf(question(ofState), /^gpus = \[/m.test(shown.scenario_toml ?? '') ? shown.prediction.points.map((p: { gpus: number }) => p.gpus) : []),
      withJob: () => engine.ask({ ...question(ofState), job: true }) }));
  }
  room.classList.toggle('old', refused !== '');
  byId('peek').textContent = isHidden(state) ? 'Guess first.' : refused ? sentences(refused)[0] : shown ? short(shown.prediction.headline, 200) : '';
  showControls();
  showPins();
  showLesson();
}

/** The answer that is shown may still be of the question before. */
const showLesson = (): void => lessonPart(byId('lesson'), state, good?.preset === state.preset ? shown?.prediction : undefined, engine.chapters, show);

/** A knob that moves makes one step back, however long it moves; everything else makes one each time. */
function turn(change: Partial<State>, moving = false): void {
  state = { ...state, ...change };
  keep(moving ? Object.keys(change).join() : '');
  void ask();
}
let moved = '';  // the knob whose moves the newest step is of
function keep(knob = ''): void {
  const hash = asHash({ state, pins });
  if (hash === location.hash) return;
  if (knob && knob === moved) history.replaceState(null, '', hash); else history.pushState(null, '', hash);
  moved = knob;
}

function choosePreset(id: string): void {
  const preset = findPreset(id);
  if (preset) turn(stateOf(preset)); else turn({ preset: '' });
  show();
}

function showControls(): void {
  const known = clusterOf(state), most = state.cluster.startsWith('gpu:') ? 8 : known?.most_gpus;
  (byId('preset') as HTMLSelectElement).value = findPreset(state.preset) ? state.preset : '';
  const own = Object.keys(files);
  knobs.pickers.scenario.offer(scenarios(lists, own.filter((f) => use(f, files[f], state).scenario)));
  knobs.pickers.model.offer(models(lists, own.filter((f) => use(f, files[f], state).model)));
  knobs.pickers.cluster.offer(clusters(lists, own.filter((f) => use(f, files[f], state).cluster === f)));
  knobs.pickers.strategy.offer(strategies(lists));
  knobs.show(state, refused ? null : shown, { most, has: hasOption(state) });
}

function pin(): void {
  pins = [...pins, { ...(refused && good ? good : state), preset: '' }].slice(-kMostPins);
  keep();
  void ask();
}
function showPins(): void {
  const forget = (i: number) => (): void => { pins = pins.filter((_, k) => k !== i); keep(); void ask(); };
  const back = (one: State) => (): void => turn({ ...one });
  (byId('pin') as HTMLButtonElement).textContent = pins.length < kMostPins ? `Pin this as ${pinName(pins.length)}` : 'Four are pinned';
  (byId('pin') as HTMLButtonElement).disabled = pins.length >= kMostPins || !shown;
  byId('pins').replaceChildren(...pinned().map((one, i) => h('li', { style: `--c:${one.color}` }, h('span', { class: 'swatch', 'aria-hidden': 'true' }),
    h('button', { type: 'button', class: 'small', title: `Go back to ${one.name}`, onclick: back(one.state) }, `${one.name}: ${short(one.prediction ? `${one.prediction.model}, ${one.prediction.strategy}, ${one.prediction.cluster}` : 'no answer', 60)}`),
    h('button', { type: 'button', class: 'small', 'aria-label': `Forget ${one.name}`, onclick: forget(i) }, '\u00d7'))));
}

function dropZone(): HTMLElement {
  const input = h('input', { type: 'file', id: 'file', multiple: true, class: 'unseen-input', onchange: () => { void takeFiles([...(input.files ?? [])]); input.value = ''; } }) as HTMLInputElement;
  return h('div', { class: 'knob drop', id: 'drop' }, h('label', { for: 'file', class: 'small button' }, 'Your own file'), input,
    h('p', { class: 'note' }, 'A cluster, model or scenario in TOML, or a job script: choose it, or drop it anywhere. It stays in this browser.'), h('ul', { class: 'plain', id: 'files' }), h('p', { class: 'note fault', id: 'file-fault', role: 'alert' }));
}

async function takeFiles(chosen: File[]): Promise<void> {
  const faults: string[] = [];
  for (const file of chosen) {
    const why = whyNot(file, Object.keys(files).length);
    if (why) { faults.push(why); continue; }
    const name = questionName(file.name), text = await file.text();
    files = { ...files, [name]: text };
    turn({ preset: '', ...use(name, text, state) });
  }
  byId('file-fault').textContent = short(faults.join(' '), 400);
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
    void takeFiles([...(event.dataTransfer?.files ?? [])]);
  });
}

/** On a phone the knobs are a sheet over the page. */
function sheetButton(): HTMLElement {
  const button = h('button', { type: 'button', class: 'small strong', id: 'sheet', 'aria-expanded': 'false', 'aria-controls': 'knobs', onclick: () => {
    const open = document.body.classList.toggle('sheet-open');
    button.setAttribute('aria-expanded', String(open));
    button.textContent = open ? 'Show the answer' : 'Turn the knobs';
  } }, 'Turn the knobs');
  return button;
}

function presenterButton(): HTMLElement {
  const button = h('button', { type: 'button', class: 'small', id: 'present', 'aria-pressed': 'false', onclick: () => {
    const on = document.documentElement.classList.toggle('presenter');
    button.setAttribute('aria-pressed', String(on));
    showLesson();
  } }, 'Present');
  return button;
}

function layout(): HTMLElement[] {
  knobs = makeKnobs((lists.datasets ?? []).map((d) => d.name), (change, moving) => turn('scenario' in change ? { ...change, preset: '' } : change, moving), dropZone());
  const bar = h('div', { class: 'bar' }, questionList(choosePreset), h('button', { type: 'button', class: 'small', id: 'pin', onclick: pin }, 'Pin this as A'), h('ul', { id: 'pins', 'aria-label': 'Pinned answers' }));
  return [h('div', { class: 'peek' }, h('p', { id: 'peek', role: 'status' }), sheetButton()),
    h('div', { class: 'bench' }, knobs.form, h('main', { 'aria-live': 'off' }, bar, h('div', { id: 'lesson' }), h('div', { id: 'results' }, h('p', { class: 'note' }, 'Computing \u2026')))),
    h('footer', {}, h('p', { id: 'took' }), h('p', {}, 'The link in the address bar holds all of this.'))];
}

async function start(): Promise<void> {
  const page = byId('page');
  page.append(h('header', { class: 'top' }, h('div', {}, h('p', { class: 'kind' }, 'foretrain workshop'), h('h1', {}, 'How fast is a training on N GPUs, and why?')), h('div', { class: 'tools' }, presenterButton(), theme())));
  try {
    engine = await findEngine();
    lists = await engine.ask({ list: true });
    if (!lists.ok) throw new Error(lists.errors);
  } catch (error) {
    page.append(refusalCard(`error: the simulator behind this page does not start (${error})\n  hint: \`foretrain serve\` shows this page with one; a folder of \`make page\` needs a web server, and a browser with WebAssembly`, [], false, null));
    flags.ready = 'yes';
    return;
  }
  ({ state, pins } = fromHash(location.hash));
  page.append(...layout());
  showControls();
  showPins();
  showLesson();
  watchDrops();
  const back = (): void => { moved = ''; ({ state, pins } = fromHash(location.hash)); void ask().then(() => { if (!busy) show(); }); };
  window.addEventListener('popstate', back);
  if ('serviceWorker' in navigator && engine.name.startsWith('WebAssembly')) void navigator.serviceWorker.register('sw.js').catch(() => undefined);
  await ask();
}

void start();
