// Reads the island, draws each report, and says how to make the page again.
import './style.css';
import { copyButton, h, short } from './dom';
import { collectivePart, comparisonPart, strategiesPart, studyPart, validationPart } from './others';
import { planPart } from './plan';
import { predictionPart } from './prediction';
import { theme } from './theme';

type Any = any;
const kParts: Record<string, (report: Any, details: Any) => HTMLElement> = {
  prediction: predictionPart, comparison: comparisonPart, strategies: strategiesPart, study: studyPart, collective: collectivePart, validation: validationPart, plan: planPart,
};
const kTitles: Record<string, string> = { prediction: 'Prediction', comparison: 'Comparison of strategies', strategies: 'Best strategies', study: 'Study', collective: 'Collective', validation: 'Predicted against measured', plan: 'Layouts of a large model' };

const nameOf = (r: Any): string => [r.scenario || r.op || '', r.strategy && `${r.strategy}${r.scaling ? `, ${r.scaling} scaling` : ''}`].filter(Boolean).join(' \u00b7 ');

function start(): void {
  const page = document.getElementById('page')!;
  const data = JSON.parse(document.getElementById('data')!.textContent!);
  if (data.schema !== 'foretrain.page/1') { page.textContent = 'This page holds no report.'; return; }
  const first = data.reports[0] ?? {};
  const title = short(data.reports.length > 1 ? kTitles[data.kind] + 's' : first.scenario || first.op || kTitles[data.kind], 120);
  document.title = `${title} \u2013 foretrain`;
  const chips = data.reports.length > 1 ? [] : [first.model, first.cluster, first.strategy ?? first.own_strategy, first.precision].filter(Boolean);
  page.append(
    h('header', { class: 'top' }, h('div', {}, h('p', { class: 'kind' }, kTitles[data.kind]), h('h1', {}, title), h('ul', { class: 'chips' }, ...chips.map((c: string) => h('li', {}, short(c, 60))))),
      h('div', { class: 'tools' }, h('button', { type: 'button', class: 'small', onclick: () => window.print() }, 'Print'), theme())),
    h('main', {}, ...data.reports.map((report: Any, i: number) => h('article', { 'aria-label': short(nameOf(report) || kTitles[data.kind], 80) },
      data.reports.length > 1 ? h('h2', { class: 'one' }, short(nameOf(report), 120)) : null, kParts[data.kind](report, data.details[i])))),
    h('footer', {}, data.made.command ? h('p', {}, 'Made by ', h('code', {}, short(data.made.command, 1000)), ' ', copyButton('Copy', () => data.made.command)) : null,
      h('p', {}, [data.made.version, data.made.date].filter(Boolean).join(', '))));
  document.documentElement.dataset.ready = 'yes';
}

start();
