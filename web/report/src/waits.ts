// What the GPU waits for in a step: gaps of its compute stream, and what runs on other lanes meanwhile.
import { short } from './dom';
import type { Timeline } from './timeline';
import { count, percent, seconds } from './units';

/** A gap of the compute stream, in microseconds of the step. */
export interface Wait { from: number; to: number; why: string }

const kShortest = 0.01;  // of the step, to be counted as a wait
const kMostShown = 5;

/** The lane whose gaps are waits of the GPU; -1: there is none. */
export const computeLane = (t: Timeline): number => t.lanes.findIndex((lane) => lane.sort === 'stream' && /compute/.test(lane.name));

/** What covers most of a gap: copies and collectives, then transfers, then host threads, as those wait for the others, too. */
function reason(t: Timeline, lane: number, from: number, to: number): string {
  const shares = new Map<string, { covered: number; first: string; many: number; rank: number }>();
  for (const [l, start, length, name, kind] of t.spans) {
    const covered = Math.min(start + length, to) - Math.max(start, from);
    if (covered <= 0 || (l === lane && t.kinds[kind] === 'kernel')) continue;
    const sort = t.lanes[l].sort, is_host = sort === 'host';
    const what = sort === 'link' ? `transfers over ${t.lanes[l].name}` : is_host ? `the ${t.lanes[l].name}` : t.names[name];
    const old = shares.get(what) ?? { covered: 0, first: t.names[name], many: 0, rank: is_host ? 1 : sort === 'link' ? 2 : 3 };
    shares.set(what, { ...old, covered: old.covered + covered, many: old.many + 1 });
  }
  const best = [...shares.entries()].filter(([, s]) => s.covered > 0.3 * (to - from)).sort((a, b) => b[1].rank - a[1].rank || b[1].covered - a[1].covered)[0];
  if (!best) return 'nothing that is drawn';
  const [what, s] = best;
  return s.rank === 3 ? short(what, 60) : `${short(what, 60)}: ${short(s.first, 40)}${s.many > 1 ? ` and ${count(s.many - 1, 'more task')}` : ''}`;
}

/** The longest waits in the order of the step: where the compute stream runs no kernel. */
export function waits(t: Timeline): { all: number; longest: Wait[] } {
  const lane = computeLane(t), whole = t.step_s * 1e6;
  if (lane < 0) return { all: 0, longest: [] };
  const gaps: { from: number; to: number }[] = [];
  let end = 0;
  for (const [l, start, length, , kind] of t.spans) {
    if (l !== lane || t.kinds[kind] !== 'kernel') continue;
    if (start > end) gaps.push({ from: end, to: Math.min(start, whole) });
    end = Math.max(end, start + length);
  }
  if (end < whole) gaps.push({ from: end, to: whole });
  const all = gaps.reduce((sum, g) => sum + Math.max(0, g.to - g.from), 0);
  const longest = gaps.filter((g) => g.to - g.from >= kShortest * whole).sort((a, b) => b.to - b.from - (a.to - a.from)).slice(0, kMostShown)
    .sort((a, b) => a.from - b.from).map((g) => ({ ...g, why: reason(t, lane, g.from, g.to) }));
  return { all, longest };
}

/** The title of a timeline. */
export function timelineFinding(t: Timeline): string {
  const { all, longest } = waits(t), share = all / (t.step_s * 1e6);
  if (computeLane(t) < 0) return 'One step in time';
  if (share < 0.03) return `The GPU computes for ${percent(1 - share)} of the step`;
  const most = longest.reduce<Wait | null>((a, b) => (a && a.to - a.from >= b.to - b.from ? a : b), null);
  return `No kernel runs for ${seconds(all / 1e6)} of the ${seconds(t.step_s)}` + (most ? `; the longest wait, ${seconds((most.to - most.from) / 1e6)}, is for ${most.why.split(':')[0]}` : '');
}
