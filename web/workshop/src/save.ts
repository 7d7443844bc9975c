// Pictures and texts to take along: a chart as SVG or PNG with the colours it is seen in.
import { h } from '../../report/src/dom';

function download(name: string, blob: Blob): void {
  const link = h('a', { href: URL.createObjectURL(blob), download: name }) as HTMLAnchorElement;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** Colours are names of the page's style; outside of it they must be written out. */
function standalone(svg: SVGSVGElement): { text: string; width: number; height: number } {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const box = svg.getBoundingClientRect(), style = getComputedStyle(document.documentElement);
  const ground = getComputedStyle(svg.closest('.card') ?? document.body).backgroundColor;
  copy.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
  copy.setAttribute('width', String(box.width));
  copy.setAttribute('height', String(box.height));
  copy.setAttribute('color', style.getPropertyValue('--ink').trim());
  copy.insertAdjacentHTML('afterbegin', `<rect width="100%" height="100%" fill="${ground}"/>`);
  const text = new XMLSerializer().serializeToString(copy).replace(/var\((--[\w-]+)\)/g, (all, name) => style.getPropertyValue(name).trim() || all);
  return { text, width: box.width, height: box.height };
}

export function saveSvg(svg: SVGSVGElement, name: string): void {
  download(`${name}.svg`, new Blob([standalone(svg).text], { type: 'image/svg+xml' }));
}

export function savePng(svg: SVGSVGElement, name: string): void {
  const { text, width, height } = standalone(svg);
  const image = new Image();
  image.onload = () => {
    const canvas = h('canvas', { width: 2 * width, height: 2 * height }) as HTMLCanvasElement;
    canvas.getContext('2d')!.drawImage(image, 0, 0, 2 * width, 2 * height);
    canvas.toBlob((blob) => { if (blob) download(`${name}.png`, blob); });
  };
  image.src = 'data:image/svg+xml;charset=utf-8,' + encodeURIComponent(text);
}

export const saveText = (text: string, name: string): void => download(name, new Blob([text], { type: 'text/plain' }));
