// Runs the simulator beside the page: the first message says where its files are, each further one is a question.
let engine;
self.onmessage = async ({ data }) => {
  if (data.base) {
    importScripts(data.base + 'engine.js');
    engine = self.foretrainEngine({ locateFile: (name) => data.base + name });
    return;
  }
  let answer;
  try {
    answer = (await engine).ccall('foretrain_answer', 'string', ['string'], [data.question]);
  } catch (error) {
    answer = JSON.stringify({ ok: false, errors: `The engine failed: ${error}` });
  }
  self.postMessage({ id: data.id, answer });
};
