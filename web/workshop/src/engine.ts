// Who answers: `foretrain serve` behind this page, or the simulator as WebAssembly beside it. ENGINE.md has the contract.
import workerText from './worker.js?raw';

type Any = any;
export interface Question { arguments?: string[]; files?: Record<string, string>; list?: boolean; job?: boolean; curve?: boolean }
export interface Answer {
  ok: boolean; errors?: string; prediction?: Any; page?: Any; table?: string; why?: string; scenario_toml?: string; job_script?: string; why_no_job?: string; left_out?: string;
  scenarios?: Item[]; models?: Item[]; clusters?: Item[]; strategies?: Item[]; gpus?: Item[]; datasets?: Item[];
}
export interface Item { name: string; summary: string; most_gpus?: number; gpus_per_node?: number; gpu?: string; options?: string[] }
/** `chapters`: a folder of the host with the chapters of the lesson. */
export interface Engine { name: string; chapters?: string; ask(question: Question): Promise<Answer> }

const nativeEngine: Engine = {
  name: 'the program on this machine',
  async ask(question) {
    const response = await fetch('api/answer', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(question) });
    if (!/json/.test(response.headers.get('Content-Type') ?? '')) return { ok: false, errors: `The program answered ${response.status} ${response.statusText}.` };
    return await response.json() as Answer;
  },
};

/** The worker's questions are numbered, and answered in turn. */
function wasmEngine(): Engine {
  const worker = new Worker(URL.createObjectURL(new Blob([workerText], { type: 'text/javascript' })));
  const waiting = new Map<number, (answer: Answer) => void>();
  let last = 0;
  worker.onmessage = ({ data }) => {
    waiting.get(data.id)?.(JSON.parse(data.answer));
    waiting.delete(data.id);
  };
  worker.onerror = (event) => {
    for (const give of waiting.values()) give({ ok: false, errors: `The engine stopped: ${event.message}` });
    waiting.clear();
  };
  worker.postMessage({ base: new URL('.', location.href).href });
  return {
    name: 'WebAssembly in this browser',
    ask: (question) => new Promise((give) => { waiting.set(++last, give); worker.postMessage({ id: last, question: JSON.stringify(question) }); }),
  };
}

/** The page's host says in engine.json which it has, and where the lesson's chapters are. */
export async function findEngine(): Promise<Engine> {
  const host = await (await fetch('engine.json')).json();
  return { ...(host.engine === 'native' ? nativeEngine : wasmEngine()), chapters: host.chapters };
}
