// Light or dark, as the reader's system says until the button is pressed; kept where a page may keep something.
import { h } from './dom';

export function theme(): HTMLElement {
  const root = document.documentElement;
  let kept: string | null = null;
  try { kept = localStorage.getItem('foretrain-theme'); } catch { /* a page from a file may keep nothing */ }
  if (kept === 'light' || kept === 'dark') root.dataset.theme = kept;
  const isDark = (): boolean => root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  const button = h('button', { type: 'button', class: 'small', id: 'theme' });
  const say = (): void => { button.textContent = isDark() ? 'Light' : 'Dark'; button.setAttribute('aria-label', `Switch to ${isDark() ? 'light' : 'dark'} colours`); };
  button.addEventListener('click', () => {
    root.dataset.theme = isDark() ? 'light' : 'dark';
    try { localStorage.setItem('foretrain-theme', root.dataset.theme); } catch { /* as above */ }
    say();
  });
  say();
  return button;
}
